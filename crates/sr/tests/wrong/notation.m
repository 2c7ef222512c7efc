_monitor(M)
  op get(res x: int)
_body(M)
  _condvar(full, 3)             /* wrong: _condvar has 1 argument, not 2 */
  _proc(get(x))
    _signle(full)               /* wrong: no construct _signle */
  _proc_end
_monitor_end
