// A REST server: GET /api is answered with a greeting.
package main

import (
	"log"
	"net/http"
	"os"
)

var greeting = []byte(`{"greeting":"Hello World!"}`)

func api(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Content-Type", "application/json")
	// A client that went away is no fault of the server's.
	_, _ = writer.Write(greeting)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: server PORT")
	}
	http.HandleFunc("GET /api", api)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
