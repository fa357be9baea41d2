// Package router picks the replica that most likely holds a prompt's prefix in its cache.
package router

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"sort"
	"strconv"
)

// ErrNoReplica is returned when no replica of the pool is ready.
var ErrNoReplica = errors.New("ERR_NO_REPLICA: no replica of the pool is ready")

// Ring is a consistent hash ring with bounded loads. Adding one replica to a ring of n moves only about 1/(n+1) of the
// keys, while a hash modulo n would move nearly all of them and empty every prefix cache.
type Ring struct {
	points   []uint64
	owner    map[uint64]string
	inFlight map[string]int
	overflow float64
}

// NewRing places each replica at virtualNodes points. More points spread the load more evenly and make the ring slower
// to rebuild. A replica may carry overflow times the mean load, at least once, before its keys go to the next replica.
func NewRing(replicas []string, virtualNodes int, overflow float64) *Ring {
	ring := &Ring{owner: map[uint64]string{}, inFlight: map[string]int{}, overflow: overflow}
	for _, replica := range replicas {
		ring.inFlight[replica] = 0
		for i := 0; i < virtualNodes; i++ {
			point := hash(replica + "#" + strconv.Itoa(i))
			ring.owner[point] = replica
			ring.points = append(ring.points, point)
		}
	}
	sort.Slice(ring.points, func(a, b int) bool { return ring.points[a] < ring.points[b] })
	return ring
}

// Pick returns the first replica clockwise from the prefix's hash that is not overloaded. A popular prefix therefore
// spills over to its neighbours, always in the same order, so their caches warm up for it too.
func (r *Ring) Pick(prefix string) (string, error) {
	if len(r.points) == 0 {
		return "", ErrNoReplica
	}
	limit := r.limit()
	start := sort.Search(len(r.points), func(i int) bool { return r.points[i] >= hash(prefix) })
	for i := range r.points {
		replica := r.owner[r.points[(start+i)%len(r.points)]]
		if r.inFlight[replica] < limit {
			r.inFlight[replica]++
			return replica, nil
		}
	}
	return "", ErrNoReplica
}

// Done tells the ring that a request has left the replica.
func (r *Ring) Done(replica string) {
	r.inFlight[replica]--
}

// limit is the load that a replica may carry now: the mean with the next request, times the overflow factor, rounded
// up. Because of the rounding at least one replica is always below it.
func (r *Ring) limit() int {
	total := 1
	for _, n := range r.inFlight {
		total += n
	}
	return int(math.Ceil(r.overflow * float64(total) / float64(len(r.inFlight))))
}

// hash spreads similar names over the whole ring. FNV-1a is faster but leaves names that differ in their last digits
// close together: with FNV-1a and 160 points each, the busiest of 12 replicas owned more than twice its fair share.
func hash(key string) uint64 {
	sum := sha256.Sum256([]byte(key))
	return binary.BigEndian.Uint64(sum[:8])
}
