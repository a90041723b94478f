// Package wait has what a start waits for.
package wait

// Strategy is what a start waits for.
type Strategy interface{ Message() string }

type logged struct{ message string }

func (l logged) Message() string { return l.message }

// ForLog waits for a message in the container's log.
func ForLog(message string) Strategy { return logged{message} }
