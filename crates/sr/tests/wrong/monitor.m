_monitor(M)
  op get(res x: int)
_body(M)
  _proc(get(x))
    _wait(empty)                /* wrong: "empty" is not declared */
  _proc_end
_monitor_end
resource main()
  import M
  var n: int
  get(n, 2)                     /* wrong: 1 argument needed, and 2 given */
end
