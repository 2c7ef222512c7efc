with Ada.Unchecked_Deallocation;
with Features_Tally; use Features_Tally;

package body Features_Task_Lives is

   use Kit;

   task type Short_Life;

   task type Timed_Life;

   First_Statement, Last_Statement : Nanoseconds := 0 with Volatile;
   --  When Timed_Life began and ended; read by its master when it has terminated

   ----------------
   -- Short_Life --
   ----------------

   task body Short_Life is
   begin
      Kit.Thread_Begins;
      Done := Done + 1;
   end Short_Life;

   ----------------
   -- Timed_Life --
   ----------------

   task body Timed_Life is
   begin
      First_Statement := Now;
      Kit.Thread_Begins;
      Last_Statement := Now;
   end Timed_Life;

   --------------
   -- Live_Not --
   --------------

   procedure Live_Not is
   begin
      begin
         Done := Done + 1;
      end;
   end Live_Not;

   -------------------
   -- Live_Declared --
   -------------------

   procedure Live_Declared is
   begin
      declare
         task Life;

         task body Life is
         begin
            Kit.Thread_Begins;
            Done := Done + 1;
         end Life;
      begin
         null;
      end;
   end Live_Declared;

   ------------------
   -- Live_Of_Type --
   ------------------

   procedure Live_Of_Type is
   begin
      declare
         Life : Short_Life;
         pragma Unreferenced (Life);
      begin
         null;
      end;
   end Live_Of_Type;

   --------------------
   -- Live_Allocated --
   --------------------

   procedure Live_Allocated is
   begin
      declare
         type Life_Access is access Short_Life;
         procedure Free is new Ada.Unchecked_Deallocation (Short_Life, Life_Access);

         Life : Life_Access;
      begin
         Life := new Short_Life;
         Free (Life);
      end;
   end Live_Allocated;

   ---------------
   -- Elaborate --
   ---------------

   procedure Elaborate (Result : out Sample) is
   begin
      Result.Actual := Now;
      declare
         Life    : Timed_Life;
         pragma Unreferenced (Life);
         Reached : constant Nanoseconds := Now;
      begin
         Result.Ended := Reached;
      end;
   end Elaborate;

   --------------
   -- Activate --
   --------------

   procedure Activate (Result : out Sample) is
   begin
      declare
         Life    : Timed_Life;
         pragma Unreferenced (Life);
         Reached : constant Nanoseconds := Now;
      begin
         Result.Actual := Reached;
      end;
      Result.Ended := First_Statement;
   end Activate;

   -------------------------
   -- Terminate_And_Await --
   -------------------------

   procedure Terminate_And_Await (Result : out Sample) is
   begin
      declare
         Life : Timed_Life;
         pragma Unreferenced (Life);
      begin
         null;
      end;
      Result.Ended  := Now;
      Result.Actual := Last_Statement;
   end Terminate_And_Await;

end Features_Task_Lives;
