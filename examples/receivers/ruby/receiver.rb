# frozen_string_literal: true

# Run: gem install webrick && SIGNING_KEYS=key1,key2 ruby receiver.rb (Ruby 3.0 or newer)
# region imports
require 'openssl'
# endregion
require 'json'
require 'webrick'

MAX_BODY_BYTES = 64 * 1024
MAX_WAITING = 1_000
MAX_REMEMBERED = 100_000

# region verify
TOLERANCE_SECONDS = 300

# `body` is the bytes as they arrived. During a roll there are two signing keys.
def genuine?(body, headers, signing_keys)
  id = headers['webhook-id'].to_s
  timestamp = headers['webhook-timestamp'].to_s
  return false unless timestamp.match?(/\A\d{1,12}\z/)
  return false if (Time.now.to_i - timestamp.to_i).abs > TOLERANCE_SECONDS

  given = headers['webhook-signature'].to_s.split
  message = "#{id}.#{timestamp}.".b + body.b
  signing_keys.any? do |key|
    expected = "v1,#{[OpenSSL::HMAC.digest('SHA256', key, message)].pack('m0')}"
    given.any? { |signature| OpenSSL.secure_compare(signature, expected) }
  end
end
# endregion

SIGNING_KEYS = ENV.fetch('SIGNING_KEYS', '').tr(',', ' ').split
abort 'Set SIGNING_KEYS to one or more signing keys, separated by commas.' if SIGNING_KEYS.empty?

$stdout.sync = true

# Your work. It runs after the answer.
def handle(event)
  puts "received #{event['event_type']} #{event['guid']}"
end

# Queues each genuine event once.
class Receiver < WEBrick::HTTPServlet::AbstractServlet
  WAITING = SizedQueue.new(MAX_WAITING)
  # A restart forgets these: use a table with a unique guid if your work must not run twice.
  REMEMBERED = {}
  LOCK = Mutex.new

  def do_POST(request, response)
    response.status = status_for(request)
    response['Retry-After'] = '10' if response.status == 503
  end

  private

  def status_for(request)
    # A chunked body has any size, whatever the header says.
    return 411 if request['transfer-encoding'] || !request['content-length']
    return 413 if request.content_length > MAX_BODY_BYTES

    body = request.body.to_s
    genuine?(body, request, SIGNING_KEYS) ? accept(JSON.parse(body)) : 401
  end

  def accept(event)
    LOCK.synchronize do
      if REMEMBERED.key?(event['guid'])
        puts "duplicate #{event['guid']}"
      else
        WAITING.push(event, true)
        REMEMBERED[event['guid']] = true
        REMEMBERED.shift if REMEMBERED.size > MAX_REMEMBERED
      end
    end
    204
  rescue ThreadError
    503
  end
end

Thread.new do
  loop do
    handle(Receiver::WAITING.pop)
  rescue StandardError => e
    warn e.full_message
  end
end

server = WEBrick::HTTPServer.new(
  BindAddress: '127.0.0.1',
  Port: Integer(ENV.fetch('PORT', '0')),
  AccessLog: [],
  Logger: WEBrick::Log.new($stderr, WEBrick::Log::WARN)
)
server.mount('/', Receiver)
%w[INT TERM].each { |signal| trap(signal) { server.shutdown } }
puts "Listening on http://127.0.0.1:#{server.listeners.first.addr[1]}"
server.start
