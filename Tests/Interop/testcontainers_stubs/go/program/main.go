// A program that uses the module for Go.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/url"
	"os"

	"example.com/aldaba"
)

func main() {
	ctx, output := context.Background(), json.NewEncoder(os.Stdout)
	container, err := aldaba.Start(ctx, "aldaba-tests")
	check(err)
	defer func() { check(container.Terminate(ctx)) }()
	_, err = container.Fault(ctx, map[string]any{"interface": "apns", "status": 429, "reason": "TooManyRequests"})
	check(err)
	check(output.Encode(map[string]string{
		"http": container.HTTP, "apns": container.APNs, "fcm": container.FCM, "ca": string(container.CA)}))
	_, err = container.Received(ctx, url.Values{"status": {"200"}, "count": {"1"}, "timeout": {"20"}})
	check(err)
	received, err := container.Received(ctx, url.Values{"interface": {"apns"}})
	check(err)
	statuses := []any{}
	for _, each := range received {
		statuses = append(statuses, each["answer"].(map[string]any)["status"])
	}
	check(output.Encode(statuses))
	check(container.Reset(ctx, ""))
	left, err := container.Received(ctx, nil)
	check(err)
	check(output.Encode(len(left)))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
