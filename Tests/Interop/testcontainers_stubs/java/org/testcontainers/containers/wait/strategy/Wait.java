package org.testcontainers.containers.wait.strategy;

/** The ways to wait for a container. */
public class Wait {
    public static WaitStrategy forLogMessage(String pattern, int times) {
        if (!"{\"apnsPort\":1}\n".matches(pattern)) {
            throw new IllegalArgumentException(pattern);
        }
        return new WaitStrategy() { };
    }
}
