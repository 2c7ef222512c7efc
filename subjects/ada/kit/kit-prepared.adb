with Kit.Registry;
with Kit.Threads;

package body Kit.Prepared is

   Present     : Natural  := 0;   --  index in Registry.Tests, 0 for none
   Present_Arg : Argument := 0;

   procedure Call (Its_Hook : Hook) is
   begin
      if Its_Hook /= null then
         Its_Hook (Present_Arg);
      end if;
   end Call;

   procedure Prepare (Test : Positive; Arg : Argument) is
   begin
      Finish;
      Present_Arg := Arg;
      Call (Registry.Tests (Test).Action.Prepare);
      Present := Test;
   end Prepare;

   procedure Prepare_Unless_Ready (Test : Positive; Arg : Argument) is
   begin
      if Present /= Test or else Present_Arg /= Arg then
         Prepare (Test, Arg);
      end if;
   end Prepare_Unless_Ready;

   procedure Reset is
   begin
      Call (Registry.Tests (Present).Action.Reset);
   end Reset;

   procedure Finish is
      Ended : constant Natural := Present;
   begin
      if Ended > 0 then
         Present := 0;
         Call (Registry.Tests (Ended).Action.Finish);
      end if;
   end Finish;

   procedure Give_Up is
      use type Registry.Test_Kind;
   begin
      Threads.Stop_Reporting;
      begin
         if Present > 0 and then Registry.Tests (Present).Kind = Registry.Frame_Test then
            Reset;
         end if;
      exception
         when others =>
            --  What made the slice fail may make this fail, too: the test is finished all the same, or the next slice
            --  would take it for ready
            null;
      end;
      Finish;
   exception
      when others =>
         null;
   end Give_Up;

end Kit.Prepared;
