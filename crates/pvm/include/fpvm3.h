c     PVM 3.4's numbers for Fortran, as Antiphon's libpvm3 has them.
      integer PVMTASKDEFAULT, PVMTASKHOST, PVMTASKARCH, PVMTASKDEBUG
      integer PVMTASKTRACE, PVMMPPFRONT, PVMHOSTCOMPL, PVMNOSPAWNPARENT
      parameter (PVMTASKDEFAULT=0, PVMTASKHOST=1, PVMTASKARCH=2)
      parameter (PVMTASKDEBUG=4, PVMTASKTRACE=8, PVMMPPFRONT=16)
      parameter (PVMHOSTCOMPL=32, PVMNOSPAWNPARENT=64)
      integer PVMHOST, PVMARCH, PVMDEBUG, PVMTRACE
      parameter (PVMHOST=1, PVMARCH=2, PVMDEBUG=4, PVMTRACE=8)
      integer PVMDATADEFAULT, PVMDATARAW, PVMDATAINPLACE, PVMDATATRACE
      parameter (PVMDATADEFAULT=0, PVMDATARAW=1, PVMDATAINPLACE=2)
      parameter (PVMDATATRACE=4)
      integer PVMDEFAULT, PVMRAW, PVMINPLACE
      parameter (PVMDEFAULT=0, PVMRAW=1, PVMINPLACE=2)
      integer PVMTASKEXIT, PVMHOSTDELETE, PVMHOSTADD, PVMROUTEADD
      integer PVMROUTEDELETE, PVMNOTIFYCANCEL
      parameter (PVMTASKEXIT=1, PVMHOSTDELETE=2, PVMHOSTADD=3)
      parameter (PVMROUTEADD=4, PVMROUTEDELETE=5, PVMNOTIFYCANCEL=256)
      integer STRING, BYTE1, INTEGER2, INTEGER4, REAL4, COMPLEX8
      integer REAL8, COMPLEX16, INTEGER8
      parameter (STRING=0, BYTE1=1, INTEGER2=2, INTEGER4=3, REAL4=4)
      parameter (COMPLEX8=5, REAL8=6, COMPLEX16=7, INTEGER8=8)
      integer PVMROUTE, PVMDONTROUTE, PVMALLOWDIRECT, PVMROUTEDIRECT
      parameter (PVMROUTE=1, PVMDONTROUTE=1, PVMALLOWDIRECT=2)
      parameter (PVMROUTEDIRECT=3)
      integer PVMDEBUGMASK, PVMAUTOERR, PVMOUTPUTTID, PVMOUTPUTCODE
      parameter (PVMDEBUGMASK=2, PVMAUTOERR=3, PVMOUTPUTTID=4)
      parameter (PVMOUTPUTCODE=5)
      integer PVMTRACETID, PVMTRACECODE, PVMTRACEBUFFER
      integer PVMTRACEOPTIONS, PVMTRACEFULL, PVMTRACETIME, PVMTRACECOUNT
      parameter (PVMTRACETID=6, PVMTRACECODE=7, PVMTRACEBUFFER=8)
      parameter (PVMTRACEOPTIONS=9, PVMTRACEFULL=1, PVMTRACETIME=2)
      parameter (PVMTRACECOUNT=3)
      integer PVMFRAGSIZE, PVMRESVTIDS, PVMSOUTPUTTID, PVMSOUTPUTCODE
      parameter (PVMFRAGSIZE=10, PVMRESVTIDS=11, PVMSOUTPUTTID=12)
      parameter (PVMSOUTPUTCODE=13)
      integer PVMSTRACETID, PVMSTRACECODE, PVMSTRACEBUFFER
      integer PVMSTRACEOPTIONS, PVMSHOWTIDS
      parameter (PVMSTRACETID=14, PVMSTRACECODE=15)
      parameter (PVMSTRACEBUFFER=16, PVMSTRACEOPTIONS=17)
      parameter (PVMSHOWTIDS=18)
      integer PVMPOLLTYPE, PVMPOLLTIME, PVMPOLLCONSTANT, PVMPOLLSLEEP
      parameter (PVMPOLLTYPE=19, PVMPOLLCONSTANT=1, PVMPOLLSLEEP=2)
      parameter (PVMPOLLTIME=20)
      integer PVMOUTPUTCTX, PVMTRACECTX, PVMSOUTPUTCTX, PVMSTRACECTX
      integer PVMNORESET
      parameter (PVMOUTPUTCTX=21, PVMTRACECTX=22, PVMSOUTPUTCTX=23)
      parameter (PVMSTRACECTX=24, PVMNORESET=25)
      integer PVMMBOXDEFAULT, PVMMBOXPERSISTENT, PVMMBOXMULTIINSTANCE
      integer PVMMBOXOVERWRITABLE, PVMMBOXFIRSTAVAIL
      integer PVMMBOXREADANDDELETE, PVMMBOXWAITFORINFO
      parameter (PVMMBOXDEFAULT=0, PVMMBOXPERSISTENT=1)
      parameter (PVMMBOXMULTIINSTANCE=2, PVMMBOXOVERWRITABLE=4)
      parameter (PVMMBOXFIRSTAVAIL=8, PVMMBOXREADANDDELETE=16)
      parameter (PVMMBOXWAITFORINFO=32)
      integer PvmOk, PvmBadParam, PvmMismatch, PvmOverflow, PvmNoData
      integer PvmNoHost, PvmNoFile, PvmDenied, PvmNoMem, PvmBadMsg
      integer PvmSysErr, PvmNoBuf, PvmNoSuchBuf, PvmNullGroup
      integer PvmDupGroup, PvmNoGroup, PvmNotInGroup, PvmNoInst
      integer PvmHostFail, PvmNoParent, PvmNotImpl, PvmDSysErr
      integer PvmBadVersion, PvmOutOfRes, PvmDupHost, PvmCantStart
      integer PvmAlready, PvmNoTask, PvmNotFound, PvmExists
      integer PvmHostrNMstr, PvmParentNotSet, PvmIPLoopback
      integer PvmNoEntry, PvmDupEntry
      parameter (PvmOk=0, PvmBadParam=-2, PvmMismatch=-3)
      parameter (PvmOverflow=-4, PvmNoData=-5, PvmNoHost=-6)
      parameter (PvmNoFile=-7, PvmDenied=-8, PvmNoMem=-10)
      parameter (PvmBadMsg=-12, PvmSysErr=-14, PvmNoBuf=-15)
      parameter (PvmNoSuchBuf=-16, PvmNullGroup=-17, PvmDupGroup=-18)
      parameter (PvmNoGroup=-19, PvmNotInGroup=-20, PvmNoInst=-21)
      parameter (PvmHostFail=-22, PvmNoParent=-23, PvmNotImpl=-24)
      parameter (PvmDSysErr=-25, PvmBadVersion=-26, PvmOutOfRes=-27)
      parameter (PvmDupHost=-28, PvmCantStart=-29, PvmAlready=-30)
      parameter (PvmNoTask=-31, PvmNotFound=-32, PvmExists=-33)
      parameter (PvmHostrNMstr=-34, PvmParentNotSet=-35)
      parameter (PvmIPLoopback=-36, PvmNoEntry=-32, PvmDupEntry=-33)
