// Package aldaba starts a server for tests in a container: APNs and FCM, which accept any key, service account, app and token.
package aldaba

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

// Container is a server that runs, and its addresses.
type Container struct {
	testcontainers.Container
	// HTTP is the address of the test API.
	HTTP string
	// APNs is the address of APNs.
	APNs string
	// FCM is the address of FCM; access tokens are at /token of it.
	FCM string
	// CA is the certificate that the program under test must trust, PEM.
	CA []byte
}

// Start starts a container of an image such as aldaba-tests.
func Start(ctx context.Context, image string) (*Container, error) {
	started, err := testcontainers.GenericContainer(ctx, testcontainers.GenericContainerRequest{
		ContainerRequest: testcontainers.ContainerRequest{
			Image:        image,
			ExposedPorts: []string{"443/tcp", "2197/tcp", "8080/tcp"},
			// The line of the addresses, after which everything listens.
			WaitingFor: wait.ForLog("\"apnsPort\""),
		},
		Started: true,
	})
	if err != nil {
		return nil, err
	}
	container := &Container{Container: started}
	if err := container.find(ctx); err != nil {
		_ = started.Terminate(ctx)
		return nil, err
	}
	return container, nil
}

func (c *Container) find(ctx context.Context) (err error) {
	if c.HTTP, err = c.PortEndpoint(ctx, "8080/tcp", "http"); err != nil {
		return err
	}
	if c.APNs, err = c.PortEndpoint(ctx, "2197/tcp", "https"); err != nil {
		return err
	}
	if c.FCM, err = c.PortEndpoint(ctx, "443/tcp", "https"); err != nil {
		return err
	}
	file, err := c.CopyFileFromContainer(ctx, "/trust/ca.pem")
	if err != nil {
		return err
	}
	defer file.Close()
	c.CA, err = io.ReadAll(file)
	return err
}

// Request is a request that a sender made, as the test API describes it.
type Request map[string]any

// Received returns the requests that came, the newest first. The members count and timeout of the query wait for them.
func (c *Container) Received(ctx context.Context, query url.Values) ([]Request, error) {
	var answer struct{ Received []Request }
	err := c.ask(ctx, http.MethodGet, "/v1/received?"+query.Encode(), nil, &answer)
	return answer.Received, err
}

// Fault provokes an error for the requests that its members select, and returns its id.
func (c *Container) Fault(ctx context.Context, members map[string]any) (string, error) {
	var answer struct{ ID string }
	err := c.ask(ctx, http.MethodPost, "/v1/faults", members, &answer)
	return answer.ID, err
}

// Reset forgets requests and faults: those of a namespace, or all where it is empty.
func (c *Container) Reset(ctx context.Context, namespace string) error {
	path := "/v1/reset"
	if namespace != "" {
		path += "?namespace=" + url.QueryEscape(namespace)
	}
	return c.ask(ctx, http.MethodPost, path, nil, nil)
}

func (c *Container) ask(ctx context.Context, method, path string, body, answer any) error {
	var content io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		content = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.HTTP+path, content)
	if err != nil {
		return err
	}
	request.Header.Set("content-type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}
