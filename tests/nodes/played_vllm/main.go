// A played vLLM for tests of groups: no model and no devices, but the way in which vLLM's nodes depend on each other.
//
// The first node answers only once all others have joined it, and ends when one of them is gone. The others serve nobody
// and stay when the first ends. After SIGTERM the first finishes what it has, as with --shutdown-timeout.
//
// The sandbox resolves no names, so the other nodes find the first by calling the name in --master-addr into the pods'
// network: that plays the cluster's DNS.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	meeting   = 29501
	tokenTime = 50 * time.Millisecond
)

func main() {
	options := parsed(os.Args[1:])
	if nodes, _ := strconv.Atoi(options["nnodes"]); options["node-rank"] == "0" || nodes == 0 {
		lead(options, nodes)
		return
	}
	if _, headless := options["headless"]; !headless {
		log.Fatal("a node with a rank above 0 is started with --headless")
	}
	follow(options)
}

func parsed(words []string) map[string]string {
	options := map[string]string{}
	for number, word := range words {
		name, value, written := strings.Cut(strings.TrimPrefix(word, "--"), "=")
		if strings.HasPrefix(word, "--") && !written && number+1 < len(words) {
			value = words[number+1]
		}
		options[name] = value
	}
	return options
}

func lead(options map[string]string, nodes int) {
	if nodes > 1 {
		meet(options["master-addr"], nodes-1)
	}
	var running atomic.Int64
	served := options["served-model-name"]
	mux := http.NewServeMux()
	mux.HandleFunc("/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/metrics", func(out http.ResponseWriter, _ *http.Request) { metrics(out, served, running.Load()) })
	mux.HandleFunc("/v1/models", func(out http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(out).Encode(map[string]any{"data": []any{map[string]any{"id": served}}})
	})
	mux.HandleFunc("/v1/chat/completions", func(out http.ResponseWriter, in *http.Request) {
		running.Add(1)
		defer running.Add(-1)
		answer(out, in, served)
	})
	server := &http.Server{Addr: ":" + options["port"], Handler: mux}
	go func() {
		log.Printf("all %d nodes have joined, answering", nodes)
		if err := server.ListenAndServe(); err != http.ErrServerClosed {
			log.Fatal(err)
		}
	}()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	<-stop
	seconds, _ := strconv.Atoi(options["shutdown-timeout"])
	limit, cancel := context.WithTimeout(context.Background(), time.Duration(seconds)*time.Second)
	defer cancel()
	_ = server.Shutdown(limit)
}

// meet returns when so many others have joined, and ends the process when one of them goes.
func meet(name string, others int) {
	calls, err := net.ListenPacket("udp4", fmt.Sprintf(":%d", meeting))
	fatal(err)
	go func() {
		text := make([]byte, 512)
		for {
			length, from, err := calls.ReadFrom(text)
			if err == nil && string(text[:length]) == name {
				_, _ = calls.WriteTo([]byte("here"), from)
			}
		}
	}()
	doors, err := net.Listen("tcp4", fmt.Sprintf(":%d", meeting))
	fatal(err)
	for joined := 1; joined <= others; joined++ {
		log.Printf("waiting for node %d of %d", joined, others)
		node, err := doors.Accept()
		fatal(err)
		go func() {
			_, _ = node.Read(make([]byte, 1))
			log.Fatal("RuntimeError: a node of this group is gone")
		}()
	}
}

func follow(options map[string]string) {
	for {
		if found, err := net.DialTimeout("tcp4", search(options["master-addr"]), time.Second); err == nil {
			log.Printf("joined %s", found.RemoteAddr())
			_, _ = found.Read(make([]byte, 1))
			log.Print("the first node is gone; waiting for the end")
			select {}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// search calls a name into the network until somebody has it.
func search(name string) string {
	socket, err := net.ListenPacket("udp4", ":0")
	fatal(err)
	defer socket.Close()
	everybody := &net.UDPAddr{IP: net.IPv4bcast, Port: meeting}
	for {
		_, _ = socket.WriteTo([]byte(name), everybody)
		_ = socket.SetReadDeadline(time.Now().Add(300 * time.Millisecond))
		if _, from, err := socket.ReadFrom(make([]byte, 16)); err == nil {
			host, _, _ := net.SplitHostPort(from.String())
			return fmt.Sprintf("%s:%d", host, meeting)
		}
	}
}

func answer(out http.ResponseWriter, in *http.Request, served string) {
	asked := struct {
		Tokens int `json:"max_tokens"`
	}{}
	if err := json.NewDecoder(in.Body).Decode(&asked); err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	time.Sleep(time.Duration(asked.Tokens) * tokenTime)
	host, _ := os.Hostname()
	message := map[string]any{"role": "assistant", "content": host}
	_ = json.NewEncoder(out).Encode(map[string]any{"model": served, "choices": []any{map[string]any{"message": message}}})
}

func metrics(out http.ResponseWriter, served string, running int64) {
	labels := fmt.Sprintf(`{engine="0",model_name="%s"}`, served)
	for name, value := range map[string]int64{
		"num_requests_running": running, "num_requests_waiting": 0, "kv_cache_usage_perc": 0,
		"prompt_tokens_total": 0, "generation_tokens_total": 0, "num_preemptions_total": 0,
	} {
		fmt.Fprintf(out, "# TYPE vllm:%s gauge\nvllm:%s%s %d\n", name, name, labels, value)
	}
}

func fatal(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
