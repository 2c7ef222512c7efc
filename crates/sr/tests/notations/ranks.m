# servers: 1
# expect: true
# expect: 	**** Printing for queue[2] **** 3 waiting process(es), with ranks:
# expect:  1 2 3
# expect: 1
# expect: false true
# expect: 1 2 3
/* Who has the least rank is woken first; an array of condition variables. */
_monitor(Clock)
  op await(rank: int), tick(), show()
_body(Clock)
  _condvar1(queue, 1:2)
  _proc(await(rank))
    _pri_wait(queue[2], rank)
    writes(rank)
    if rank < 3 -> writes(" ") [] else -> writes("\n") fi
  _proc_end
  _proc(tick())
    _signal(queue[2])
  _proc_end
  _proc(show())
    write(not _empty(queue[2]))
    _print(queue[2])
    write(_minrank(queue[2]))
    write(_empty(queue[2]), _empty(queue[1]))
  _proc_end
_monitor_end

resource main()
  import Clock
  sem done := 0
  process waits(i := 1 to 3)
    await(4 - i)
    V(done)
  end
  nap(50)
  show()
  fa i := 1 to 3 -> tick(); P(done) af
end
