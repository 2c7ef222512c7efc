package main

import (
	"errors"
	"fmt"
	"sync"

	"antiphon/subjects/go/kit"
)

const clientRows = 10

// order is what every client does next.
type order struct {
	iterations uint64
	queries    bool
}

// client is a connection with a goroutine of its own.
type client struct {
	on     connection
	orders chan order
	sum    uint64
	err    error
}

// crowd is several clients; an operation is a query of ten rows by each of them, and the control the same without.
type crowd struct {
	clients []*client
	text    string
	done    sync.WaitGroup
}

func clients() []kit.Test {
	var tests []kit.Test
	for _, many := range []int{1, 2, 4, 8, 16} {
		name := fmt.Sprintf("concurrent.%d", many)
		prepare := func(uint64) (kit.Frames, error) { return gather(many) }
		tests = append(tests, kit.Test{Name: name, Work: "sql." + name, Threads: many + 1, Prepare: prepare})
	}
	return tests
}

func gather(many int) (*crowd, error) {
	if _, err := own(); err != nil {
		return nil, err
	}
	c := &crowd{text: fmt.Sprintf("SELECT * FROM %s LIMIT %d", rowsTable(), clientRows)}
	for range many {
		on, err := connect()
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
		one := &client{on: on, orders: make(chan order)}
		c.clients = append(c.clients, one)
		go c.serve(one)
	}
	return c, nil
}

func (c *crowd) serve(one *client) {
	for order := range one.orders {
		one.sum, one.err = c.work(one, order)
		c.done.Done()
	}
}

func (c *crowd) work(one *client, order order) (uint64, error) {
	var sum uint64
	for i := uint64(0); i < order.iterations; i++ {
		kit.TakesPart("client")
		if !order.queries {
			sum += i
			continue
		}
		rows, err := one.on.Query(c.text, clientRows)
		if err != nil {
			return 0, err
		}
		sum += rows
	}
	return sum, nil
}

func (c *crowd) run(what order) (uint64, error) {
	c.done.Add(len(c.clients))
	for _, one := range c.clients {
		one.orders <- what
	}
	c.done.Wait()
	var sum uint64
	for _, one := range c.clients {
		if one.err != nil {
			return 0, one.err
		}
		sum += one.sum
	}
	return sum, nil
}

func (c *crowd) Control(iterations uint64) (uint64, error) { return c.run(order{iterations, false}) }
func (c *crowd) Test(iterations uint64) (uint64, error)    { return c.run(order{iterations, true}) }

func (c *crowd) Close() error {
	var failed error
	for _, one := range c.clients {
		close(one.orders)
		failed = errors.Join(failed, one.on.Close())
	}
	return failed
}
