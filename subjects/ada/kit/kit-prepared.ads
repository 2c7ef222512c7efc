--  The test that is prepared at present, if any: its partners run and its storage is there. Hooks are called here alone

private package Kit.Prepared is

   procedure Prepare (Test : Positive; Arg : Argument);
   --  Finishes what was prepared before; nothing remains prepared if the hook raises

   procedure Prepare_Unless_Ready (Test : Positive; Arg : Argument);

   procedure Reset;
   --  The prepared test, which is a frame, gives back what one slice took

   procedure Finish;
   --  The prepared test's last hook; nothing if none is prepared

   procedure Give_Up;
   --  Reset and Finish after a failure: what the hooks themselves raise is dropped, because the first failure is the
   --  one to tell of

end Kit.Prepared;
