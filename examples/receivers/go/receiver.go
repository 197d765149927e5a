// Run: SIGNING_KEYS=key1,key2 go run receiver.go (Go 1.21 or newer)
package main

// region imports
import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// endregion
import (
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"os"
	"sync"
)

const (
	maxBodyBytes  = 64 * 1024
	maxWaiting    = 1_000
	maxRemembered = 100_000
)

// region verify
const tolerance = 300 * time.Second

// isGenuine gets the bytes of the body as they arrived. During a roll there are two signing keys.
func isGenuine(body []byte, header http.Header, signingKeys []string) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > tolerance {
		return false
	}
	given := strings.Split(header.Get("webhook-signature"), " ")
	for _, key := range signingKeys {
		mac := hmac.New(sha256.New, []byte(key))
		fmt.Fprintf(mac, "%s.%s.", id, timestamp)
		mac.Write(body)
		expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
		for _, signature := range given {
			if hmac.Equal([]byte(signature), []byte(expected)) {
				return true
			}
		}
	}
	return false
}

// endregion

type event struct {
	GUID        string `json:"guid"`
	EventType   string `json:"event_type"`
	ObjectGUID  string `json:"object_guid"`
	Environment string `json:"environment"`
}

// handle is your work. It runs after the answer.
func handle(e event) {
	fmt.Printf("received %s %s\n", e.EventType, e.GUID)
}

type receiver struct {
	signingKeys []string
	waiting     chan event
	mutex       sync.Mutex
	// A restart forgets these: use a table with a unique guid if your work must not run twice.
	remembered map[string]bool
	order      []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBodyBytes))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	case !isGenuine(body, request.Header, r.signingKeys):
		w.WriteHeader(http.StatusUnauthorized)
	default:
		r.accept(w, body)
	}
}

func (r *receiver) accept(w http.ResponseWriter, body []byte) {
	var e event
	if err := json.Unmarshal(body, &e); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.remembered[e.GUID] {
		fmt.Println("duplicate", e.GUID)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	select {
	case r.waiting <- e:
		r.remember(e.GUID)
		w.WriteHeader(http.StatusNoContent)
	default:
		w.Header().Set("Retry-After", "10")
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

func (r *receiver) remember(guid string) {
	r.remembered[guid] = true
	r.order = append(r.order, guid)
	if len(r.order) > maxRemembered {
		delete(r.remembered, r.order[0])
		r.order = r.order[1:]
	}
}

func main() {
	keys := strings.Fields(strings.ReplaceAll(os.Getenv("SIGNING_KEYS"), ",", " "))
	if len(keys) == 0 {
		log.Fatal("Set SIGNING_KEYS to one or more signing keys, separated by commas.")
	}
	r := &receiver{signingKeys: keys, waiting: make(chan event, maxWaiting), remembered: map[string]bool{}}
	go func() {
		for e := range r.waiting {
			handle(e)
		}
	}()
	port := os.Getenv("PORT")
	if port == "" {
		port = "0"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Listening on http://%s\n", listener.Addr())
	server := &http.Server{Handler: r, ReadTimeout: 10 * time.Second, IdleTimeout: 90 * time.Second}
	log.Fatal(server.Serve(listener))
}
