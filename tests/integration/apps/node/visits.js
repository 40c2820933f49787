// express with its sessions in connect-redis: PORT-OF-REDIS PORT
"use strict";

const express = require("express");
const session = require("express-session");
const { RedisStore } = require("connect-redis");
const { createClient } = require("redis");

function answer(promise, response) {
    promise.then((value) => response.json(value),
        (error) => response.status(500).send(String(error)));
}

async function main() {
    const client = createClient({
        url: `redis://127.0.0.1:${process.argv[2]}`,
    });
    client.on("error", (error) => console.error(String(error)));
    await client.connect();
    const store = new RedisStore({ client, prefix: "site:", ttl: 600 });
    const app = express();
    app.use(session({
        store, secret: "of no importance", resave: false,
        saveUninitialized: false,
    }));
    app.get("/visit", (request, response) => {
        request.session.visits = (request.session.visits || 0) + 1;
        request.session.name = request.query.name || request.session.name;
        response.json([request.session.visits, request.session.name || null]);
    });
    app.get("/renew", (request, response) => {
        const old = request.session.visits;
        request.session.regenerate((error) => {
            request.session.visits = old;
            response.json(error ? String(error) : "renewed");
        });
    });
    app.get("/leave", (request, response) => {
        request.session.destroy((error) =>
            response.json(error ? String(error) : "left"));
    });
    app.get("/count", (_, response) => answer(store.length(), response));
    app.get("/all", (_, response) => answer(store.all().then(
        (sessions) => sessions.map((one) => one.visits).sort()), response));
    app.get("/clear", (_, response) => answer(
        store.clear().then(() => "cleared"), response));
    app.listen(Number(process.argv[3]), "127.0.0.1");
}

main();
