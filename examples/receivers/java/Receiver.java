// Run: SIGNING_KEYS=key1,key2 java Receiver.java (Java 17 or newer)
// region imports
import com.sun.net.httpserver.Headers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
// endregion

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Receiver {
  private static final int MAX_BODY_BYTES = 64 * 1024;
  private static final int MAX_WAITING = 1_000;
  private static final int MAX_REMEMBERED = 100_000;
  private static final int THREADS = 16;

  // region verify
  private static final long TOLERANCE_SECONDS = 300;

  /** {@code body} are the bytes as they arrived. During a roll there are two signing keys. */
  static boolean isGenuine(byte[] body, Headers headers, List<String> signingKeys)
      throws GeneralSecurityException {
    String id = String.valueOf(headers.getFirst("webhook-id"));
    String timestamp = String.valueOf(headers.getFirst("webhook-timestamp"));
    if (!timestamp.matches("[0-9]{1,12}")) return false;
    long age = Math.abs(Instant.now().getEpochSecond() - Long.parseLong(timestamp));
    if (age > TOLERANCE_SECONDS) return false;
    String[] given = String.valueOf(headers.getFirst("webhook-signature")).split(" ");
    for (String key : signingKeys) {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key.getBytes(StandardCharsets.US_ASCII), "HmacSHA256"));
      mac.update((id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8));
      byte[] expected = Base64.getEncoder().encode(mac.doFinal(body));
      for (String signature : given) {
        if (!signature.startsWith("v1,")) continue;
        byte[] value = signature.substring(3).getBytes(StandardCharsets.UTF_8);
        if (MessageDigest.isEqual(value, expected)) return true;
      }
    }
    return false;
  }
  // endregion

  record Event(String guid, String type) {}

  /** Your work. It runs after the answer. */
  static void handle(Event event) {
    System.out.println("received " + event.type() + " " + event.guid());
  }

  private final List<String> signingKeys;
  private final BlockingQueue<Event> waiting = new ArrayBlockingQueue<>(MAX_WAITING);

  /** A restart forgets these: use a table with a unique guid if your work must not run twice. */
  private final Map<String, Boolean> remembered =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
          return size() > MAX_REMEMBERED;
        }
      };

  Receiver(List<String> signingKeys) {
    this.signingKeys = signingKeys;
  }

  void receive(HttpExchange exchange) throws IOException {
    int status;
    try {
      status = statusFor(exchange);
    } catch (GeneralSecurityException | RuntimeException error) {
      error.printStackTrace();
      status = 500;
    }
    if (status == 405) exchange.getResponseHeaders().set("Allow", "POST");
    if (status == 503) exchange.getResponseHeaders().set("Retry-After", "10");
    exchange.sendResponseHeaders(status, -1);
    exchange.close();
  }

  private int statusFor(HttpExchange exchange) throws IOException, GeneralSecurityException {
    if (!exchange.getRequestMethod().equals("POST")) return 405;
    byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
    if (body.length > MAX_BODY_BYTES) return 413;
    if (!isGenuine(body, exchange.getRequestHeaders(), signingKeys)) return 401;
    String json = new String(body, StandardCharsets.UTF_8);
    return accept(new Event(field(json, "guid"), field(json, "event_type")));
  }

  private synchronized int accept(Event event) {
    if (remembered.containsKey(event.guid())) {
      System.out.println("duplicate " + event.guid());
      return 204;
    }
    if (!waiting.offer(event)) return 503;
    remembered.put(event.guid(), true);
    return 204;
  }

  /** Java has no JSON parser of its own; use the one of your project. Values of events contain no escapes. */
  private static String field(String json, String name) {
    Matcher matcher = Pattern.compile("\"" + name + "\":\"([^\"\\\\]*)\"").matcher(json);
    if (!matcher.find()) throw new IllegalArgumentException("no " + name + " in the event");
    return matcher.group(1);
  }

  private void work() {
    while (true) {
      try {
        handle(waiting.take());
      } catch (InterruptedException error) {
        return;
      } catch (RuntimeException error) {
        error.printStackTrace();
      }
    }
  }

  public static void main(String[] args) throws IOException {
    String given = System.getenv().getOrDefault("SIGNING_KEYS", "");
    List<String> keys = Arrays.stream(given.split("[\\s,]+")).filter(key -> !key.isEmpty()).toList();
    if (keys.isEmpty()) {
      System.err.println("Set SIGNING_KEYS to one or more signing keys, separated by commas.");
      System.exit(1);
    }
    Receiver receiver = new Receiver(keys);
    Thread worker = new Thread(receiver::work);
    worker.setDaemon(true);
    worker.start();
    int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "0"));
    InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    HttpServer server = HttpServer.create(address, 0);
    server.setExecutor(Executors.newFixedThreadPool(THREADS));
    server.createContext("/", receiver::receive);
    server.start();
    System.out.println("Listening on http://127.0.0.1:" + server.getAddress().getPort());
  }
}
