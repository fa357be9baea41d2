package router

import (
	"context"
	"time"
)

// DrainLimit is how long a drained replica may finish its running streams.
const DrainLimit = 90 * time.Second

// Replica is what draining needs to know of a replica.
type Replica interface {
	StopAdmitting()
	Running() int
	CancelAll()
}

// Drain stops new requests first and waits for the running ones second. The other order would never end on a busy
// replica. Streams that are still running after the limit are cut off, and Drain reports how many.
func Drain(ctx context.Context, replica Replica, limit time.Duration) (cut int) {
	replica.StopAdmitting()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for replica.Running() > 0 {
		select {
		case <-ctx.Done():
			cut = replica.Running()
			replica.CancelAll()
			return cut
		case <-tick.C:
		}
	}
	return 0
}
