with Ada.Containers.Vectors;
with Ada.Directories;
with Kit.System_Calls; use Kit.System_Calls;

package body Kit.Threads is

   use type C.int;

   --  Placement -----------------------------------------------------------------------------------------------------

   Partners_On : Integer := -1 with Atomic;   --  processor of the partners under `across`

   function Partners_Move return Boolean
   is (Partners_On >= 0);

   procedure Pin (Thread : Thread_Id; To : Processor) is
      Only : Processor_Set := (others => False);
   begin
      Only (To) := True;
      if Sched_Setaffinity (Thread, Processor_Set_Bytes, Only) /= 0 then
         raise Not_Permitted
           with "cannot run on processor" & To'Image & ": " & Strerror (Errno);
      end if;
   end Pin;

   procedure Check (Number : Natural) is
   begin
      if Number not in Processor then
         raise Not_Permitted
           with "processor" & Number'Image & " is beyond" & Processor'Last'Image & ", the last this kit knows";
      end if;
   end Check;

   procedure Pin_Present_Threads (To : Processor) is
      --  The run-time system's own tasks, which were there before the placement was asked for

      procedure Pin_One (Thread : Ada.Directories.Directory_Entry_Type);

      procedure Pin_One (Thread : Ada.Directories.Directory_Entry_Type) is
         Name : constant String := Ada.Directories.Simple_Name (Thread);
      begin
         if (for all C of Name => C in '0' .. '9') then
            Pin (Thread_Id'Value (Name), To);
         end if;
      end Pin_One;

   begin
      Ada.Directories.Search ("/proc/self/task", "", Process => Pin_One'Access);
   end Pin_Present_Threads;

   procedure Place_Same (Here : Natural) is
   begin
      Check (Here);
      Pin (Caller, Here);
      Pin_Present_Threads (Here);
   end Place_Same;

   procedure Place_Across (Main, Partners : Natural) is
   begin
      Check (Main);
      Check (Partners);
      Pin_Present_Threads (Partners);
      Pin (Caller, Main);
      Partners_On := Partners;
   end Place_Across;

   procedure Move_Partner is
   begin
      Pin (Caller, Partners_On);
   end Move_Partner;

   --  Reports -------------------------------------------------------------------------------------------------------

   procedure Write_List (Set : Processor_Set; Into : out String; Last : out Natural) is
      --  Ranges joined by commas; what does not fit is left out

      procedure Append (Text : String);

      procedure Append (Text : String) is
      begin
         if Last + Text'Length <= Into'Last then
            Into (Last + 1 .. Last + Text'Length) := Text;
            Last := Last + Text'Length;
         end if;
      end Append;

      function Digits_Of (P : Natural) return String
      is (P'Image (2 .. P'Image'Last));

      P, From : Natural := 0;
   begin
      Into := (others => ' ');
      Last := Into'First - 1;
      while P <= Processor'Last loop
         if Set (P) then
            From := P;
            while P < Processor'Last and then Set (P + 1) loop
               P := P + 1;
            end loop;
            Append
              ((if Last >= Into'First then "," else "") & Digits_Of (From)
               & (if P > From then "-" & Digits_Of (P) else ""));
         end if;
         P := P + 1;
      end loop;
   end Write_List;

   package Report_Vectors is new Ada.Containers.Vectors (Positive, Thread_Report);

   protected Reports is
      procedure Add (Item : Thread_Report);
      procedure Clear;
      function Length return Natural;
      function Element (Index : Positive) return Thread_Report;
   private
      Items : Report_Vectors.Vector;
   end Reports;

   protected body Reports is

      procedure Add (Item : Thread_Report) is

         function Counted (Known : Thread_Report) return Thread_Report
         is (Known.Role, Known.Role_Length, Known.Policy, Known.Priority, Known.Processor, Known.Allowed,
             Known.Allowed_Length, Count => Item.Count);

      begin
         for Known of Items loop
            if Counted (Known) = Item then
               Known.Count := Known.Count + 1;
               return;
            end if;
         end loop;
         Items.Append (Item);
      end Add;

      procedure Clear is
      begin
         Items.Clear;
      end Clear;

      function Length return Natural
      is (Natural (Items.Length));

      function Element (Index : Positive) return Thread_Report
      is (Items (Index));

   end Reports;

   Reset_On_Fork : constant := 16#4000_0000#;   --  a flag beside the policy

   procedure Report (Role : String) is
      Item  : Thread_Report;
      Param : Sched_Param := (Priority => 0);
      Set   : Processor_Set := (others => False);
   begin
      Item.Role_Length := Natural'Min (Role'Length, Role_Length_Max);
      Item.Role := (others => ' ');
      Item.Role (1 .. Item.Role_Length) := Role (Role'First .. Role'First + Item.Role_Length - 1);
      Item.Policy := Integer (Sched_Getscheduler (Caller)) mod Reset_On_Fork;
      if Sched_Getparam (Caller, Param) /= 0 then
         Param.Priority := -1;
      end if;
      Item.Priority := Integer (Param.Priority);
      Item.Processor := Integer (Sched_Getcpu);
      if Sched_Getaffinity (Caller, Processor_Set_Bytes, Set) <= 0 then
         null;   --  the raw call gives bytes, the C library's 0; the set stays empty if it failed
      end if;
      Write_List (Set, Item.Allowed, Item.Allowed_Length);
      Item.Count := 1;
      Reports.Add (Item);
   end Report;

   procedure Report_Main is
   begin
      Report ("main");
   end Report_Main;

   procedure Start_Reporting is
   begin
      Untimed := True;
      Report_Main;
   end Start_Reporting;

   procedure Stop_Reporting is
   begin
      Untimed := False;
   end Stop_Reporting;

   procedure Forget_Reports is
   begin
      Reports.Clear;
   end Forget_Reports;

   function Report_Count return Natural
   is (Reports.Length);

   function Report_At (Index : Positive) return Thread_Report
   is (Reports.Element (Index));

end Kit.Threads;
