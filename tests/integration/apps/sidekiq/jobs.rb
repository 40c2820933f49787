# Jobs of Sidekiq.  From the environment: REDIS_URL, QUEUES ("a b"), and
# NAMESPACE, which may be missing.
require "sidekiq"
require "redis-namespace" if ENV["NAMESPACE"]

REDIS = { url: ENV.fetch("REDIS_URL"), namespace: ENV["NAMESPACE"] }.compact
QUEUES = ENV.fetch("QUEUES").split

Sidekiq.configure_server do |config|
  config.redis = REDIS
  config.options[:poll_interval_average] = 0.2
end
Sidekiq.configure_client { |config| config.redis = REDIS }

# What is done is written down, for those who wait for it.
def note(what)
  Sidekiq.redis { |redis| redis.hincrby("outcomes", what, 1) }
end

class Plain
  include Sidekiq::Worker
  def perform(what)
    note(what)
  end
end

class FailsOnce
  include Sidekiq::Worker
  sidekiq_options retry: 3
  sidekiq_retry_in { 1 }
  def perform(what)
    tries = Sidekiq.redis { |redis| redis.incr("tries:#{what}") }
    raise "not yet" if tries == 1
    note("#{what} at try #{tries}")
  end
end

class AlwaysFails
  include Sidekiq::Worker
  sidekiq_options retry: 0
  def perform
    raise "never"
  end
end
