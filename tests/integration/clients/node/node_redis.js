// node-redis through the proxy: PORT [PASSWORD]
"use strict";

const assert = require("assert");
const { createClient, RESP_TYPES } = require("redis");

const [port, password] = process.argv.slice(2);

function make(options) {
    const client = createClient({
        password, ...options,
        socket: {
            host: "127.0.0.1", port: Number(port), reconnectStrategy: false,
        },
    });
    client.on("error", () => {}); // what fails rejects its promise as well
    return client;
}

async function checkMany(client) {
    const replies = [];
    const expected = [];
    for (let i = 0; i < 500; i++) {
        replies.push(client.set(`node:${i}`, i.toString()));
        replies.push(client.get(`node:${i}`));
        expected.push("OK", String(i));
    }
    assert.deepStrictEqual(await Promise.all(replies), expected);

    const pipe = client.multi();
    for (let i = 0; i < 500; i++)
        pipe.set(`node:${i}`, i.toString()).get(`node:${i}`);
    assert.deepStrictEqual(await pipe.execAsPipeline(), expected);

    const keys = Array.from({ length: 50 }, (_, i) => `node:m${i}`);
    const pairs = Object.fromEntries(keys.map((key, i) => [key, `v${i}`]));
    assert.strictEqual(await client.mSet(pairs), "OK");
    assert.deepStrictEqual(await client.mGet([...keys, "node:none"]),
        [...keys.map((_, i) => `v${i}`), null]);
    assert.strictEqual(await client.del([...keys, "node:none"]), 50);
    assert.strictEqual(await client.exists(keys), 0);
}

async function checkBytes(client) {
    const bytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
    const binary = Buffer.from(Array.from({ length: 256 }, (_, i) => i));
    assert.strictEqual(await client.set(binary, binary), "OK");
    assert.ok(binary.equals(await bytes.get(binary)));
    const large = Buffer.alloc(5 * 1024 * 1024, binary);
    assert.strictEqual(await client.set("node:large", large), "OK");
    assert.ok(large.equals(await bytes.get("node:large")));
}

async function checkError(client) {
    const id = await client.clientId();
    await assert.rejects(client.sendCommand(["NOSUCH", "a"]),
        /ERR unknown command 'NOSUCH'/);
    assert.strictEqual(await client.clientId(), id);
}

async function check(options) {
    const client = make(options);
    await client.connect();
    assert.strictEqual(await client.ping(), "PONG");
    assert.strictEqual(await client.set("node:a", "1"), "OK");
    assert.strictEqual(await client.get("node:a"), "1");
    assert.strictEqual(await client.get("node:none"), null);
    await checkMany(client);
    await checkBytes(client);
    await checkError(client);
    await client.hSet("node:h", { f: "1", g: "2" });
    assert.deepEqual(await client.hGetAll("node:h"), { f: "1", g: "2" });
    await client.zAdd("node:z", { score: 1.5, value: "m" });
    assert.strictEqual(await client.zScore("node:z", "m"), 1.5);
    await client.close();
}

async function main() {
    await check({});
    await check({ RESP: 2 });
    await check({ RESP: 3, name: "node", database: 0 });
    if (password) {
        const client = make({ password: "wrong" });
        await assert.rejects(client.connect(), /WRONGPASS/);
    }
    console.log("done");
}

main().catch(error => {
    console.error(error);
    process.exit(1);
});
