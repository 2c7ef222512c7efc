with Features_Frame;
with Features_Rendezvous_Acceptors; use Features_Rendezvous_Acceptors;
with Features_Rendezvous_Callers;
with Features_Rendezvous_Calls;     use Features_Rendezvous_Calls;
with Features_Rendezvous_In;
with Features_Rendezvous_In_Out;
with Features_Rendezvous_Operands;
with Features_Rendezvous_Out;
with Kit;

package body Features_Rendezvous is

   procedure Control is new Features_Frame (Call_Nothing);

   procedure Simple_Test        is new Features_Frame (Call_Simple);
   procedure Bodiless_Test      is new Features_Frame (Call_Bodiless, Clear_Bodiless, Bodiless_Total);
   procedure Select_2_Test      is new Features_Frame (Call_Select_2);
   procedure Select_10_Test     is new Features_Frame (Call_Select_10);
   procedure If_Accepted_Test   is new Features_Frame (Call_If_Accepted);
   procedure If_Refused_Test    is new Features_Frame (Call_If_Refused);
   procedure In_Time_Test       is new Features_Frame (Call_In_Time);
   procedure Too_Late_Test      is new Features_Frame (Call_Too_Late);
   procedure Too_Late_1_US_Test is new Features_Frame (Call_Too_Late_1_US);

   --  With parameters: control and test both set the operands and add them up, once a slice

   generic
      with procedure Operate;
   package With_Operands is
      procedure Frame is new Features_Frame
        (Operate, Features_Rendezvous_Operands.Clear, Features_Rendezvous_Operands.Total);
   end With_Operands;

   package Operands_Control is new With_Operands (Call_Nothing);

   package In_1       is new With_Operands (Features_Rendezvous_In.Call_1);
   package In_10      is new With_Operands (Features_Rendezvous_In.Call_10);
   package In_100     is new With_Operands (Features_Rendezvous_In.Call_100);
   package Out_1      is new With_Operands (Features_Rendezvous_Out.Call_1);
   package Out_10     is new With_Operands (Features_Rendezvous_Out.Call_10);
   package Out_100    is new With_Operands (Features_Rendezvous_Out.Call_100);
   package In_Out_1   is new With_Operands (Features_Rendezvous_In_Out.Call_1);
   package In_Out_10  is new With_Operands (Features_Rendezvous_In_Out.Call_10);
   package In_Out_100 is new With_Operands (Features_Rendezvous_In_Out.Call_100);

   package Callers_2 is new Features_Rendezvous_Callers.Contention (2);
   package Callers_4 is new Features_Rendezvous_Callers.Contention (4);
   package Callers_8 is new Features_Rendezvous_Callers.Contention (8);

   Handed_Over : constant Kit.Switches := 2.0;
   --  The caller waits for the acceptor's accept body, and the acceptor for the next call. GNAT yields before it
   --  blocks, so on one processor Linux counts both switches as involuntary. Not declared where the number depends
   --  on the dispatching policy: accepts without a body, timed calls, several callers

   procedure Register_Forms;
   procedure Register_Parameters;
   procedure Register_Contention;

   --------------------
   -- Register_Forms --
   --------------------

   procedure Register_Forms is
      procedure Add
        (Name            : String;
         Test            : Kit.Frame;
         Prepare, Finish : Kit.Hook;
         Expected        : Kit.Switches := Kit.Undeclared;
         Threads         : Positive := 2);

      procedure Add
        (Name            : String;
         Test            : Kit.Frame;
         Prepare, Finish : Kit.Hook;
         Expected        : Kit.Switches := Kit.Undeclared;
         Threads         : Positive := 2) is
      begin
         Kit.Register_Frame
           ("rendezvous." & Name, Control'Access, Test, Prepare, null, Finish, Expected, Threads);
      end Add;

   begin
      Add ("simple", Simple_Test'Access, Simple.Prepare'Access, Simple.Finish'Access, Handed_Over);
      Add ("no_body", Bodiless_Test'Access, Bodiless.Prepare'Access, Bodiless.Finish'Access);
      Add ("select.2", Select_2_Test'Access, Select_2.Prepare'Access, Select_2.Finish'Access, Handed_Over);
      Add ("select.10", Select_10_Test'Access, Select_10.Prepare'Access, Select_10.Finish'Access, Handed_Over);
      Add ("conditional.accepted", If_Accepted_Test'Access, Simple.Prepare'Access, Simple.Finish'Access, Handed_Over);
      Add ("conditional.refused", If_Refused_Test'Access, Busy.Prepare'Access, Busy.Finish'Access, 0.0, 1);
      Add ("timed.accepted", In_Time_Test'Access, Simple.Prepare'Access, Simple.Finish'Access);
      Add ("timed.expired", Too_Late_Test'Access, Busy.Prepare'Access, Busy.Finish'Access, 0.0, 1);
      Add
        ("timed.expired_1us", Too_Late_1_US_Test'Access, Busy.Prepare'Access, Busy.Finish'Access, Threads => 1);
   end Register_Forms;

   -------------------------
   -- Register_Parameters --
   -------------------------

   procedure Register_Parameters is
      procedure Add (Name : String; Test : Kit.Frame; Prepare, Finish : Kit.Hook);

      procedure Add (Name : String; Test : Kit.Frame; Prepare, Finish : Kit.Hook) is
      begin
         Kit.Register_Frame
           ("rendezvous.integer." & Name, Operands_Control.Frame'Access, Test, Prepare, null, Finish, Handed_Over,
            Threads => 2);
      end Add;

   begin
      declare
         use Features_Rendezvous_In;
      begin
         Add ("in.1", In_1.Frame'Access, Life_1.Prepare'Access, Life_1.Finish'Access);
         Add ("in.10", In_10.Frame'Access, Life_10.Prepare'Access, Life_10.Finish'Access);
         Add ("in.100", In_100.Frame'Access, Life_100.Prepare'Access, Life_100.Finish'Access);
      end;
      declare
         use Features_Rendezvous_Out;
      begin
         Add ("out.1", Out_1.Frame'Access, Life_1.Prepare'Access, Life_1.Finish'Access);
         Add ("out.10", Out_10.Frame'Access, Life_10.Prepare'Access, Life_10.Finish'Access);
         Add ("out.100", Out_100.Frame'Access, Life_100.Prepare'Access, Life_100.Finish'Access);
      end;
      declare
         use Features_Rendezvous_In_Out;
      begin
         Add ("in_out.1", In_Out_1.Frame'Access, Life_1.Prepare'Access, Life_1.Finish'Access);
         Add ("in_out.10", In_Out_10.Frame'Access, Life_10.Prepare'Access, Life_10.Finish'Access);
         Add ("in_out.100", In_Out_100.Frame'Access, Life_100.Prepare'Access, Life_100.Finish'Access);
      end;
   end Register_Parameters;

   -------------------------
   -- Register_Contention --
   -------------------------

   procedure Register_Contention is
      procedure Add (Callers : Positive; Prepare, Finish : Kit.Hook);

      procedure Add (Callers : Positive; Prepare, Finish : Kit.Hook) is
         Image : constant String := Callers'Image;
      begin
         Kit.Register_Frame
           ("rendezvous.callers." & Image (Image'First + 1 .. Image'Last),
            Features_Rendezvous_Callers.Control'Access,
            Features_Rendezvous_Callers.Test'Access,
            Prepare, null, Finish, Threads => Callers + 1);
      end Add;

   begin
      Add (2, Callers_2.Prepare'Access, Callers_2.Finish'Access);
      Add (4, Callers_4.Prepare'Access, Callers_4.Finish'Access);
      Add (8, Callers_8.Prepare'Access, Callers_8.Finish'Access);
   end Register_Contention;

   --------------
   -- Register --
   --------------

   procedure Register is
   begin
      Register_Forms;
      Register_Parameters;
      Register_Contention;
   end Register;

end Features_Rendezvous;
