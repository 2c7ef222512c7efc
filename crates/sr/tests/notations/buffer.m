# expect: 55
_monitor(Buffer)
  op put(x: int), get(res x: int)
_body(Buffer)
  var slot := 0, is_full := false
  _condvar(empty)
  _condvar(full)
  _proc(put(x))
    do is_full -> _wait(empty) od
    slot := x; is_full := true
    _signal(full)
  _proc_end
  _proc(get(x))
    do not is_full -> _wait(full) od
    x := slot; is_full := false
    _signal(empty)
  _proc_end
_monitor_end

resource main()
  import Buffer
  process producer
    fa i := 1 to 10 -> Buffer.put(i) af
  end
  var sum := 0, x: int
  fa i := 1 to 10 -> Buffer.get(x); sum +:= x af
  write(sum)
end
