with Ada.Interrupts;       use Ada.Interrupts;
with Ada.Interrupts.Names;
with Interfaces.C;

package body Features_Interrupt_Handler is

   use type Interfaces.C.int;

   Signal : constant Interrupt_ID := Ada.Interrupts.Names.SIGUSR1;
   --  Not reserved by GNAT's run-time system

   Patience : constant Duration := 1.0;

   function Getpid return Interfaces.C.int
     with Import, Convention => C, External_Name => "getpid";

   function Kill (Process, Number : Interfaces.C.int) return Interfaces.C.int
     with Import, Convention => C, External_Name => "kill";

   protected Handler is
      procedure Handle with Interrupt_Handler;
      entry Await (When_Handled : out Kit.Nanoseconds);
      procedure Forget;
   private
      Handled_At : Kit.Nanoseconds := 0;
      Handled    : Boolean := False;
   end Handler;

   Attached : Boolean := False;
   Before   : Parameterless_Handler;

   -------------
   -- Handler --
   -------------

   protected body Handler is

      procedure Handle is
      begin
         Handled_At := Kit.Now;
         if Kit.Reporting then
            Kit.Thread_Reports ("handler");
         end if;
         Handled := True;
      end Handle;

      entry Await (When_Handled : out Kit.Nanoseconds) when Handled is
      begin
         When_Handled := Handled_At;
         Handled := False;
      end Await;

      procedure Forget is
      begin
         Handled := False;
      end Forget;

   end Handler;

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      Finish (Arg);
      Handler.Forget;
      Exchange_Handler (Before, Handler.Handle'Access, Signal);
      Attached := True;
   end Prepare;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      if Attached then
         Attach_Handler (Before, Signal);
         Attached := False;
      end if;
   end Finish;

   --------------------
   -- Interrupt_Once --
   --------------------

   procedure Interrupt_Once (Result : out Kit.Sample) is
      Process : constant Interfaces.C.int := Getpid;
      Sent    : Interfaces.C.int;
   begin
      Result.Actual := Kit.Now;
      Sent := Kill (Process, Interfaces.C.int (Signal));
      select
         Handler.Await (Result.Ended);
      or
         delay Patience;
         raise Program_Error with "no handler ran within a second of the signal";
      end select;
      if Sent /= 0 then
         raise Program_Error with "the system refused to send the signal";
      end if;
   end Interrupt_Once;

end Features_Interrupt_Handler;
