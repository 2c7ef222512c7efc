// One member of a group ordered by a JetStream stream: nats-member RANK MEMBERS URL. It reads rounds
// from its standard input.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	size    = 100
	subject = "bench.all"
	// As many of its messages may be in flight without a place as of a Panda member.
	pendingMax = 512
)

type member struct {
	rank    int
	members int
	stream  jetstream.JetStream

	lock      sync.Mutex
	changed   *sync.Cond
	delivered int
	own       int

	expected int
	sent     int
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("nats-member RANK MEMBERS URL")
	}
	rank, err := strconv.Atoi(os.Args[1])
	check(err)
	members, err := strconv.Atoi(os.Args[2])
	check(err)
	m := &member{rank: rank, members: members}
	m.changed = sync.NewCond(&m.lock)
	check(m.join(os.Args[3]))
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		answer, err := m.play(strings.Fields(lines.Text()))
		check(err)
		fmt.Println(answer)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func (m *member) join(url string) error {
	connection, err := nats.Connect(url)
	if err != nil {
		return err
	}
	m.stream, err = jetstream.New(connection, jetstream.WithPublishAsyncMaxPending(pendingMax))
	if err != nil {
		return err
	}
	ctx := context.Background()
	stream, err := m.stream.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:     "bench",
		Subjects: []string{subject},
		Storage:  jetstream.MemoryStorage,
		Replicas: 1,
		MaxMsgs:  200_000,
	})
	if err != nil {
		return err
	}
	consumer, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{})
	if err != nil {
		return err
	}
	_, err = consumer.Consume(m.take)
	return err
}

func (m *member) take(message jetstream.Msg) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.delivered++
	if message.Data()[0] == byte(m.rank) {
		m.own++
	}
	m.changed.Broadcast()
}

func (m *member) play(words []string) (string, error) {
	count, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "rate":
		m.expected += count * m.members
		return m.rate(count)
	case "alone":
		m.expected += count
		if words[1] != strconv.Itoa(m.rank) {
			return "", nil
		}
		return m.trips(count)
	case "together":
		m.expected += count * m.members
		return m.trips(count)
	}
	return "", fmt.Errorf("no round %q", words)
}

func (m *member) send() error {
	body := make([]byte, size)
	body[0] = byte(m.rank)
	m.sent++
	_, err := m.stream.PublishAsync(subject, body)
	return err
}

func (m *member) rate(count int) (string, error) {
	began := time.Now()
	for range count {
		if err := m.send(); err != nil {
			return "", err
		}
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	for m.delivered < m.expected {
		m.changed.Wait()
	}
	return strconv.FormatInt(time.Since(began).Nanoseconds(), 10), nil
}

func (m *member) trips(count int) (string, error) {
	times := make([]string, count)
	for i := range times {
		began := time.Now()
		if err := m.send(); err != nil {
			return "", err
		}
		m.lock.Lock()
		for m.own < m.sent {
			m.changed.Wait()
		}
		m.lock.Unlock()
		times[i] = strconv.FormatInt(time.Since(began).Nanoseconds(), 10)
	}
	return strings.Join(times, " "), nil
}
