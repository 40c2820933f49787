# A site that has work for Sidekiq, and waits until it is done.
require_relative "jobs"
require "sidekiq/api"

def eventually(what)
  deadline = Time.now + 60
  until yield
    abort "waited in vain: #{what}: #{outcomes}" if Time.now > deadline
    sleep 0.02
  end
end

def outcomes
  Sidekiq.redis { |redis| redis.hgetall("outcomes") }
end

def check(what, found, expected)
  abort "#{what}: #{found}, not #{expected}" unless found == expected
end

expected = {}
QUEUES.each do |queue|
  40.times do |i|
    Plain.set(queue: queue).perform_async("#{queue} #{i}")
    expected["#{queue} #{i}"] = "1"
  end
end
Sidekiq::Client.push_bulk("class" => Plain,
                          "args" => (0...40).map { |i| ["bulk #{i}"] })
40.times { |i| expected["bulk #{i}"] = "1" }
Plain.perform_in(1, "late")
expected["late"] = "1"
FailsOnce.perform_async("repaired")
expected["repaired at try 2"] = "1"
AlwaysFails.perform_async

eventually("all jobs") { outcomes == expected }
eventually("one that is dead") { Sidekiq::DeadSet.new.size == 1 }
check "dead", Sidekiq::DeadSet.new.map(&:klass), ["AlwaysFails"]
eventually("statistics") { Sidekiq::Stats.new.processed == expected.size + 2 }
stats = Sidekiq::Stats.new
check "failed", stats.failed, 2
check "left", [stats.enqueued, stats.scheduled_size, stats.retry_size],
      [0, 0, 0]
check "processes", Sidekiq::ProcessSet.new.size, 1

later = Plain.perform_in(1000, "never")
check "scheduled", Sidekiq::ScheduledSet.new.map(&:jid), [later]
Sidekiq::ScheduledSet.new.find_job(later).delete
check "scheduled", Sidekiq::ScheduledSet.new.size, 0
puts "done"
