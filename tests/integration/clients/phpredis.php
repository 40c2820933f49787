<?php
/* phpredis through the proxy: PORT [PASSWORD] */

function check($condition, $what)
{
    if (!$condition) {
        fwrite(STDERR, "phpredis: $what\n");
        exit(1);
    }
}

$client = new Redis();
check($client->connect('127.0.0.1', (int)$argv[1], 60), 'connect');
if (isset($argv[2])) {
    try {
        $client->auth('wrong');
        check(false, 'a wrong password was accepted');
    } catch (RedisException $error) {
        check(strpos($error->getMessage(), 'WRONGPASS') === 0, 'WRONGPASS');
    }
    check($client->auth($argv[2]) === true, 'auth');
}
check($client->ping() === true, 'ping');
check($client->set('php:a', '1') === true, 'set');
check($client->get('php:a') === '1', 'get');
check($client->get('php:none') === false, 'get of what is not there');

$pipe = $client->multi(Redis::PIPELINE);
$expected = [];
for ($i = 0; $i < 500; $i++) {
    $pipe->set("php:$i", "$i")->get("php:$i");
    array_push($expected, true, "$i");
}
check($pipe->exec() === $expected, 'pipeline');

$values = [];
for ($i = 0; $i < 50; $i++)
    $values["php:m$i"] = "v$i";
$keys = array_keys($values);
check($client->mset($values) === true, 'mset');
check($client->mget([...$keys, 'php:none']) === [...array_values($values),
    false], 'mget');
check($client->del($keys) === 50, 'del');
check($client->exists(...$keys) === 0, 'exists');

$binary = implode('', array_map('chr', range(0, 255)));
check($client->set($binary, $binary) === true, 'set binary');
check($client->get($binary) === $binary, 'get binary');
$large = str_repeat($binary, 5 * 1024 * 1024 / 256);
check($client->set('php:large', $large) === true, 'set large');
check($client->get('php:large') === $large, 'get large');

$id = $client->client('id');
check($client->rawCommand('NOSUCH', 'a') === false, 'unknown command');
check(strpos($client->getLastError(), "ERR unknown command 'NOSUCH'") === 0,
    'the error is told');
check($client->client('id') === $id, 'the connection stays');
$client->hMSet('php:h', ['f' => '1', 'g' => '2']);
check($client->hGetAll('php:h') === ['f' => '1', 'g' => '2'], 'hgetall');
echo "done\n";
