// Package testcontainers starts containers.
package testcontainers

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/testcontainers/testcontainers-go/wait"
)

// Container is a container that runs.
type Container interface {
	PortEndpoint(ctx context.Context, port string, proto string) (string, error)
	CopyFileFromContainer(ctx context.Context, path string) (io.ReadCloser, error)
	Terminate(ctx context.Context) error
}

// ContainerRequest describes a container.
type ContainerRequest struct {
	Image        string
	ExposedPorts []string
	WaitingFor   wait.Strategy
}

// GenericContainerRequest describes a container, and whether to start it.
type GenericContainerRequest struct {
	ContainerRequest
	Started bool
}

// GenericContainer makes a container.
func GenericContainer(ctx context.Context, request GenericContainerRequest) (Container, error) {
	if !request.Started || request.WaitingFor.Message() != `"apnsPort"` {
		return nil, fmt.Errorf("the container does not start: %v", request)
	}
	return running{request.ExposedPorts}, nil
}

type running struct{ ports []string }

func (r running) PortEndpoint(ctx context.Context, port string, proto string) (string, error) {
	for _, exposed := range r.ports {
		for _, published := range strings.Split(os.Getenv("STUB_PORTS"), ",") {
			if number, outer, _ := strings.Cut(published, "="); exposed == port && number+"/tcp" == port {
				return proto + "://localhost:" + outer, nil
			}
		}
	}
	return "", fmt.Errorf("port %s is not exposed", port)
}

func (r running) CopyFileFromContainer(ctx context.Context, path string) (io.ReadCloser, error) {
	return os.Open(os.Getenv("STUB_ROOT") + path)
}

func (r running) Terminate(ctx context.Context) error { return nil }
