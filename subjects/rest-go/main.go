// A REST server: GET /api is answered with a greeting.
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

type greeting struct {
	Greeting string `json:"greeting"`
}

func api(writer http.ResponseWriter, _ *http.Request) {
	body, err := json.Marshal(greeting{"Hello World!"})
	if err != nil {
		http.Error(writer, err.Error(), http.StatusInternalServerError)
		return
	}
	writer.Header().Set("Content-Type", "application/json")
	// A client that went away is no fault of the server's.
	_, _ = writer.Write(body)
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: server PORT")
	}
	http.HandleFunc("GET /api", api)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
