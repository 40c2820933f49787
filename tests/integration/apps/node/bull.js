// A site that has work for BullMQ, and waits until it is done: PORT PREFIX
"use strict";

const assert = require("assert");
const { spawn } = require("child_process");
const path = require("path");
const { FlowProducer, Queue, QueueEvents } = require("bullmq");

const connection = { host: "127.0.0.1", port: Number(process.argv[2]) };
const options = { connection, prefix: process.argv[3] };
const queue = new Queue("mail", options);
const events = new QueueEvents("mail", options);
const flow = new FlowProducer(options);

function startWorker() {
    return spawn(process.execPath,
        [path.join(__dirname, "bull_worker.js"), ...process.argv.slice(2)],
        { stdio: ["ignore", "inherit", "inherit"] });
}

async function checkResults() {
    const jobs = await queue.addBulk(
        Array.from({ length: 50 }, (_, i) => ({ name: "double", data: i })));
    const one = await queue.add("double", 1000, { priority: 3 });
    const results = await Promise.all(
        [...jobs, one].map((job) => job.waitUntilFinished(events, 60000)));
    assert.deepStrictEqual(results,
        [...Array.from({ length: 50 }, (_, i) => 2 * i), 2000]);
}

async function checkDelay() {
    const job = await queue.add("double", 7, { delay: 500 });
    assert.strictEqual(await job.getState(), "delayed");
    assert.strictEqual(await job.waitUntilFinished(events, 60000), 14);
    assert.ok(job.timestamp + 500 <= Date.now());
}

async function checkRetries() {
    const job = await queue.add("fail", 2,
        { attempts: 5, backoff: { type: "fixed", delay: 50 } });
    assert.strictEqual(await job.waitUntilFinished(events, 60000), "try 3");
    const bad = await queue.add("fail", 100,
        { attempts: 2, backoff: { type: "fixed", delay: 50 } });
    await assert.rejects(bad.waitUntilFinished(events, 60000), /not yet/);
    assert.strictEqual(await bad.getState(), "failed");
}

async function checkProgress() {
    const seen = [];
    events.on("progress", ({ data }) => seen.push(data));
    const job = await queue.add("steps", 3);
    assert.strictEqual(await job.waitUntilFinished(events, 60000), "stepped");
    assert.deepStrictEqual(seen, [1, 2, 3]);
}

async function checkFlow() {
    const children = [1, 2, 3].map((data) => (
        { name: "double", queueName: "mail", data }));
    const { job } = await flow.add(
        { name: "sum", queueName: "mail", data: null, children });
    assert.strictEqual(await job.waitUntilFinished(events, 60000), 12);
}

async function checkRepeat() {
    let count = 0;
    events.on("completed", ({ jobId }) => {
        count += jobId.startsWith("repeat:");
    });
    await queue.upsertJobScheduler("often", { every: 200, limit: 3 },
        { name: "double", data: 1 });
    while (count < 3)
        await new Promise((resolve) => events.once("completed", resolve));
    await queue.removeJobScheduler("often");
}

async function checkPause() {
    await queue.pause();
    const job = await queue.add("double", 21);
    assert.strictEqual(await job.getState(), "waiting");
    await queue.resume();
    assert.strictEqual(await job.waitUntilFinished(events, 60000), 42);
}

async function main() {
    await events.waitUntilReady();
    const worker = startWorker();
    await checkResults();
    await Promise.all([checkDelay(), checkRetries(), checkFlow()]);
    await checkProgress();
    await checkRepeat();
    await checkPause();
    const counts = await queue.getJobCounts("failed", "wait", "delayed",
        "active");
    assert.deepStrictEqual(counts, { failed: 1, wait: 0, delayed: 0,
        active: 0 });
    worker.kill("SIGTERM");
    await new Promise((resolve) => worker.once("exit", resolve));
    await queue.obliterate({ force: true });
    assert.strictEqual(await queue.count(), 0);
    await Promise.all([queue.close(), events.close(), flow.close()]);
    console.log("done");
}

main();
