package org.testcontainers.containers.wait.strategy;

/** What a start waits for. */
public interface WaitStrategy {
}
