# redis-rb through the proxy: PORT [PASSWORD]

require "redis"

def check(condition, what)
  abort "redis-rb: #{what}" unless condition
end

options = { host: "127.0.0.1", port: ARGV[0].to_i, timeout: 60 }
options[:password] = ARGV[1] if ARGV[1]
client = Redis.new(**options)

check client.ping == "PONG", "ping"
check client.set("rb:a", "1") == "OK", "set"
check client.get("rb:a") == "1", "get"
check client.get("rb:none").nil?, "get of what is not there"

replies = client.pipelined do |pipe|
  500.times do |i|
    pipe.set("rb:#{i}", i)
    pipe.get("rb:#{i}")
  end
end
check replies == (0...500).flat_map { |i| ["OK", i.to_s] }, "pipeline"

values = (0...50).to_h { |i| ["rb:m#{i}", "v#{i}"] }
check client.mset(*values.to_a.flatten) == "OK", "mset"
check client.mget(*values.keys, "rb:none") == [*values.values, nil], "mget"
check client.del(*values.keys, "rb:none") == 50, "del"
check client.exists(*values.keys) == 0, "exists"

binary = (0..255).to_a.pack("C*")
check client.set(binary, binary) == "OK", "set binary"
check client.get(binary).b == binary, "get binary"
large = binary * (5 * 1024 * 1024 / 256)
check client.set("rb:large", large) == "OK", "set large"
check client.get("rb:large").b == large, "get large"

id = client.call("CLIENT", "ID")
begin
  client.call("NOSUCH", "a")
  abort "redis-rb: an unknown command was accepted"
rescue Redis::CommandError => error
  check error.message.start_with?("ERR unknown command 'NOSUCH'"), "error"
end
check client.call("CLIENT", "ID") == id, "the connection stays"
client.hset("rb:h", "f", 1, "g", 2)
check client.hgetall("rb:h") == { "f" => "1", "g" => "2" }, "hgetall"

if ARGV[1]
  begin
    Redis.new(**options, password: "wrong").ping
    abort "redis-rb: a wrong password was accepted"
  rescue Redis::CommandError, Redis::CannotConnectError => error
    check error.message.include?("WRONGPASS"), error.message
  end
end
puts "done"
