// A worker of BullMQ: PORT PREFIX
"use strict";

const { Worker } = require("bullmq");

const work = {
    double: async (job) => 2 * job.data,
    fail: async (job) => {
        if (job.attemptsMade < job.data)
            throw new Error("not yet");
        return `try ${job.attemptsMade + 1}`;
    },
    steps: async (job) => {
        for (let step = 1; step <= job.data; step++)
            await job.updateProgress(step);
        return "stepped";
    },
    sum: async (job) => Object.values(await job.getChildrenValues())
        .reduce((a, b) => a + b, 0),
};

const worker = new Worker("mail", (job) => work[job.name](job), {
    connection: { host: "127.0.0.1", port: Number(process.argv[2]) },
    prefix: process.argv[3],
    concurrency: 5,
});
worker.on("error", (error) => console.error(String(error)));
process.on("SIGTERM", () => worker.close().then(() => process.exit(0)));
