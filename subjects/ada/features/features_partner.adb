with Ada.Unchecked_Deallocation;

package body Features_Partner is

   procedure Free is new Ada.Unchecked_Deallocation (Partner, Partner_Access);

   -------------
   -- Prepare --
   -------------

   procedure Prepare (Arg : Kit.Argument) is
   begin
      Finish (Arg);
      Instance := new Partner;
   end Prepare;

   ------------
   -- Finish --
   ------------

   procedure Finish (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      if Instance = null then
         return;
      end if;
      Ada.Task_Identification.Abort_Task (Identity (Instance));
      while not Ada.Task_Identification.Is_Terminated (Identity (Instance)) loop
         delay 0.000_1;
      end loop;
      Free (Instance);
   end Finish;

end Features_Partner;
