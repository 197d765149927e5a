// Run: SIGNING_KEYS=key1,key2 dotnet run (.NET 8 or newer)
// region imports
using System.Globalization;
using System.Security.Cryptography;
using System.Text;
// endregion
using System.Text.Json;
using System.Text.Json.Serialization;
using System.Threading.Channels;

const int MaxBodyBytes = 64 * 1024;
const int MaxWaiting = 1_000;

var signingKeys = (Environment.GetEnvironmentVariable("SIGNING_KEYS") ?? "")
    .Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
if (signingKeys.Length == 0)
{
    Console.Error.WriteLine("Set SIGNING_KEYS to one or more signing keys, separated by commas.");
    return 1;
}

var port = Environment.GetEnvironmentVariable("PORT") ?? "0";
var builder = WebApplication.CreateBuilder();
builder.Logging.SetMinimumLevel(LogLevel.Warning);
builder.WebHost.UseUrls($"http://127.0.0.1:{port}");
builder.WebHost.ConfigureKestrel(options => options.Limits.MaxRequestBodySize = MaxBodyBytes);
var app = builder.Build();

var waiting = Channel.CreateBounded<WebhookEvent>(MaxWaiting);
var remembered = new RememberedEvents();

app.MapPost("/{**path}", async (HttpRequest request, HttpResponse response) =>
{
    using var buffer = new MemoryStream();
    try
    {
        await request.Body.CopyToAsync(buffer);
    }
    catch (BadHttpRequestException error)
    {
        return Results.StatusCode(error.StatusCode);
    }
    var body = buffer.ToArray();
    if (!Signature.IsGenuine(body, request.Headers, signingKeys)) return Results.StatusCode(401);
    var received = JsonSerializer.Deserialize<WebhookEvent>(body);
    if (received is null) return Results.StatusCode(400);
    switch (remembered.Accept(received, waiting.Writer))
    {
        case Acceptance.Duplicate:
            Console.WriteLine($"duplicate {received.Guid}");
            return Results.StatusCode(204);
        case Acceptance.Full:
            response.Headers.RetryAfter = "10";
            return Results.StatusCode(503);
        default:
            return Results.StatusCode(204);
    }
});

_ = Task.Run(async () =>
{
    await foreach (var received in waiting.Reader.ReadAllAsync())
    {
        try
        {
            await Handle(received);
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(error);
        }
    }
});

await app.StartAsync();
Console.WriteLine($"Listening on {app.Urls.First()}");
await app.WaitForShutdownAsync();
return 0;

// Your work. It runs after the answer.
static Task Handle(WebhookEvent received)
{
    Console.WriteLine($"received {received.EventType} {received.Guid}");
    return Task.CompletedTask;
}

// region verify
static class Signature
{
    const long ToleranceSeconds = 300;

    /// <summary>`body` is the bytes as they arrived. During a roll there are two signing keys.</summary>
    public static bool IsGenuine(byte[] body, IHeaderDictionary headers, IEnumerable<string> signingKeys)
    {
        var id = headers["webhook-id"].ToString();
        var timestamp = headers["webhook-timestamp"].ToString();
        if (!long.TryParse(timestamp, NumberStyles.None, CultureInfo.InvariantCulture, out var seconds)) return false;
        if (Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - seconds) > ToleranceSeconds) return false;
        var given = headers["webhook-signature"].ToString().Split(' ');
        byte[] message = [.. Encoding.UTF8.GetBytes($"{id}.{timestamp}."), .. body];
        foreach (var key in signingKeys)
        {
            var digest = HMACSHA256.HashData(Encoding.ASCII.GetBytes(key), message);
            var expected = Encoding.ASCII.GetBytes($"v1,{Convert.ToBase64String(digest)}");
            foreach (var signature in given)
                if (CryptographicOperations.FixedTimeEquals(Encoding.UTF8.GetBytes(signature), expected))
                    return true;
        }
        return false;
    }
}
// endregion

enum Acceptance { New, Duplicate, Full }

record WebhookEvent(
    [property: JsonPropertyName("guid")] string Guid,
    [property: JsonPropertyName("event_type")] string EventType,
    [property: JsonPropertyName("object_guid")] string ObjectGuid,
    [property: JsonPropertyName("environment")] string Environment);

/// <summary>A restart forgets these: use a table with a unique guid if your work must not run twice.</summary>
class RememberedEvents
{
    const int MaxRemembered = 100_000;
    readonly HashSet<string> guids = [];
    readonly Queue<string> order = new();

    public Acceptance Accept(WebhookEvent received, ChannelWriter<WebhookEvent> waiting)
    {
        lock (guids)
        {
            if (guids.Contains(received.Guid)) return Acceptance.Duplicate;
            if (!waiting.TryWrite(received)) return Acceptance.Full;
            guids.Add(received.Guid);
            order.Enqueue(received.Guid);
            if (order.Count > MaxRemembered) guids.Remove(order.Dequeue());
            return Acceptance.New;
        }
    }
}
