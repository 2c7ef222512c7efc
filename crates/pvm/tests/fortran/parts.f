c     A parent and two children in Fortran: texts, numbers, a group, and
c     a reduction.
      program parts
      include 'fpvm3.h'
      external PvmSum
      integer own, parent, tids(2), started, status, buffer, place
      integer number, bytes, tag, tid, size, i
      double precision values(4)
      character*12 text
      call pvmfmytid(own)
      call pvmfparent(parent)
      if (parent .gt. 0) then
          call pvmfrecv(parent, 1, buffer)
          call pvmfunpack(INTEGER4, number, 1, 1, status)
          call pvmfunpack(REAL8, values, 2, 2, status)
          call pvmfunpack(STRING, text, 12, 1, status)
          call pvmfinitsend(PVMDATARAW, buffer)
          number = number * 2
          values(1) = values(1) + values(3)
          call pvmfpack(INTEGER4, number, 1, 1, status)
          call pvmfpack(REAL8, values, 1, 1, status)
          call pvmfpack(STRING, text, 5, 1, status)
          call pvmfsend(parent, 2, status)
          call pvmfjoingroup('parts', place)
          call pvmfbarrier('parts', 3, status)
          number = 10
          call pvmfgettid('parts', 0, tid)
          call pvmfreduce(PvmSum, number, 1, INTEGER4, 3, 'parts', 0,
     >                    status)
          call pvmfbarrier('parts', 3, status)
          call pvmfexit(status)
          stop
      endif
      call pvmfjoingroup('parts', place)
      call pvmfspawn('parts', PVMTASKDEFAULT, ' ', 2, tids, started)
      print *, 'started', started
      do 10 i = 1, 2
          call pvmfinitsend(PVMDEFAULT, buffer)
          values(1) = i
          values(2) = -1
          values(3) = 0.5
          call pvmfpack(INTEGER4, i, 1, 1, status)
          call pvmfpack(REAL8, values, 2, 2, status)
          call pvmfpack(STRING, 'hello there', 11, 1, status)
          call pvmfsend(tids(i), 1, status)
 10   continue
      do 20 i = 1, 2
          call pvmfrecv(tids(i), 2, buffer)
          call pvmfbufinfo(buffer, bytes, tag, tid, status)
          call pvmfunpack(INTEGER4, number, 1, 1, status)
          call pvmfunpack(REAL8, values, 1, 1, status)
          call pvmfunpack(STRING, text, 12, 1, status)
          print 100, number, values(1), text, tag, bytes
 20   continue
 100  format(i3, f6.2, ' [', a, ']', i3, i4)
      call pvmfbarrier('parts', 3, status)
      call pvmfgsize('parts', size)
      number = 1
      call pvmfreduce(PvmSum, number, 1, INTEGER4, 3, 'parts', 0,
     >                status)
      print *, 'size', size, 'sum', number
      call pvmfbarrier('parts', 3, status)
      call pvmfexit(status)
      end
