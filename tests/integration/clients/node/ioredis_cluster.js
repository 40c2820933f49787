// The cluster client of ioredis through the proxy: PORT
"use strict";

const assert = require("assert");
const Redis = require("ioredis");

const port = Number(process.argv[2]);

async function checkMany(client) {
    const pipe = client.pipeline();
    const expected = [];
    for (let i = 0; i < 500; i++) {
        pipe.set(`ic:${i}`, i).get(`ic:${i}`);
        expected.push([null, "OK"], [null, String(i)]);
    }
    assert.deepStrictEqual(await pipe.exec(), expected);
    assert.strictEqual(await client.mset("{ic}a", "1", "{ic}b", "2"), "OK");
    assert.deepStrictEqual(await client.mget("{ic}a", "{ic}b", "{ic}none"),
        ["1", "2", null]);
    assert.strictEqual(await client.del("{ic}a", "{ic}b"), 2);
}

async function check(options) {
    const client = new Redis.Cluster([{ host: "127.0.0.1", port }],
        { clusterRetryStrategy: () => null, ...options });
    client.on("error", error => { throw error; });
    assert.strictEqual(await client.set("ic:a", "1"), "OK");
    assert.strictEqual(await client.get("ic:a"), "1");
    await checkMany(client);
    const seen = client.nodes("master").map(node => node.options.port);
    assert.deepStrictEqual(seen, [port]);
    assert.strictEqual(await client.quit(), "OK");
}

async function main() {
    await check({});
    await check({ enableAutoPipelining: true });
    await check({ scaleReads: "slave" });
    console.log("done");
}

main().catch(error => {
    console.error(error);
    process.exit(1);
});
