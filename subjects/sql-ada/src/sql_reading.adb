with Ada.Strings.Unbounded; use Ada.Strings.Unbounded;
with Database;              use Database;
with Driver;                use Driver;
with Kit;                   use type Kit.Checksum, Kit.Iterations;
with Laboratory;            use Laboratory;
with Sql;

package body Sql_Reading is

   Text : Unbounded_String;
   Rows : Positive;

   Prepared : Statement;

   procedure Prepare_Connect (Arg : Kit.Argument);
   procedure Prepare_Select (Arg : Kit.Argument);
   procedure Finish_Prepared (Arg : Kit.Argument);

   procedure Connect (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Without_Result (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Query (Count : Kit.Iterations; Sum : out Kit.Checksum);
   procedure Query_Prepared (Count : Kit.Iterations; Sum : out Kit.Checksum);

   generic
      Wanted : Positive;
   procedure Prepare_Rows (Arg : Kit.Argument);

   generic
      Wanted : Positive;
   procedure Prepare_Prepared (Arg : Kit.Argument);

   procedure Prepare_Connect (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
      Ready : constant Driver.Connection := Sql.Own;
      pragma Unreferenced (Ready);
   begin
      null;
   end Prepare_Connect;

   procedure Prepare_Select (Arg : Kit.Argument) is
   begin
      Prepare_Connect (Arg);
      Rows := 1;
      Text := To_Unbounded_String ("SELECT 1");
   end Prepare_Select;

   procedure Prepare_Rows (Arg : Kit.Argument) is
   begin
      Prepare_Connect (Arg);
      Rows := Wanted;
      Text := To_Unbounded_String ("SELECT * FROM " & Rows_Table & " LIMIT" & Wanted'Image);
   end Prepare_Rows;

   procedure Prepare_Prepared (Arg : Kit.Argument) is
   begin
      Prepare_Connect (Arg);
      Rows := Wanted;
      Prepared := Prepare (Sql.Own, "SELECT * FROM " & Rows_Table & " " & First & " " & Parameter);
   end Prepare_Prepared;

   procedure Finish_Prepared (Arg : Kit.Argument) is
      pragma Unreferenced (Arg);
   begin
      Forget (Prepared);
   end Finish_Prepared;

   procedure Connect (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index      : Kit.Iterations := 0;
      Connection : Driver.Connection;
   begin
      Sum := 0;
      while Index < Count loop
         Connection := Driver.Connect;
         Query (Connection, "SELECT 1", 1, Sum);
         Close (Connection);
         Kit.Increment (Index);
      end loop;
   end Connect;

   procedure Without_Result (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index      : Kit.Iterations := 0;
      Connection : constant Driver.Connection := Sql.Own;
      Its_Text   : constant String := No_Result;
   begin
      Sum := 0;
      while Index < Count loop
         Run (Connection, Its_Text);
         Sum := Sum + 1;
         Kit.Increment (Index);
      end loop;
   end Without_Result;

   procedure Query (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index      : Kit.Iterations := 0;
      Connection : constant Driver.Connection := Sql.Own;
      Its_Text   : constant String := To_String (Text);
   begin
      Sum := 0;
      while Index < Count loop
         Query (Connection, Its_Text, Rows, Sum);
         Kit.Increment (Index);
      end loop;
   end Query;

   procedure Query_Prepared (Count : Kit.Iterations; Sum : out Kit.Checksum) is
      Index : Kit.Iterations := 0;
   begin
      Sum := 0;
      while Index < Count loop
         Query (Prepared, Rows, Rows, Sum);
         Kit.Increment (Index);
      end loop;
   end Query_Prepared;

   procedure Prepare_1 is new Prepare_Rows (1);
   procedure Prepare_10 is new Prepare_Rows (10);
   procedure Prepare_50 is new Prepare_Rows (50);
   procedure Prepare_100 is new Prepare_Rows (100);
   procedure Prepare_200 is new Prepare_Rows (200);
   procedure Prepare_500 is new Prepare_Rows (500);
   procedure Prepare_1000 is new Prepare_Rows (1000);

   procedure Prepare_Prepared_1 is new Prepare_Prepared (1);
   procedure Prepare_Prepared_10 is new Prepare_Prepared (10);
   procedure Prepare_Prepared_100 is new Prepare_Prepared (100);
   procedure Prepare_Prepared_1000 is new Prepare_Prepared (1000);

   procedure Register is

      procedure Register_Rows (Name : String; Prepare : Kit.Hook);

      procedure Register_Prepared (Name : String; Prepare : Kit.Hook);

      procedure Register_Rows (Name : String; Prepare : Kit.Hook) is
      begin
         Kit.Register_Frame
           ("rows." & Name, Sql.Nothing'Access, Query'Access, Prepare, Work => "sql.rows." & Name);
      end Register_Rows;

      procedure Register_Prepared (Name : String; Prepare : Kit.Hook) is
      begin
         if Why_Not_Prepared = "" then
            Kit.Register_Frame
              ("prepared." & Name, Sql.Nothing'Access, Query_Prepared'Access, Prepare,
               Finish => Finish_Prepared'Access, Work => "sql.rows." & Name);
         else
            Kit.Register_Absent
              ("prepared." & Name, "frame", Why_Not_Prepared, Work => "sql.rows." & Name);
         end if;
      end Register_Prepared;

   begin
      Kit.Register_Frame
        ("connect", Sql.Nothing'Access, Connect'Access, Prepare_Connect'Access, Work => "sql.connect");
      Kit.Register_Frame
        ("do.1", Sql.Nothing'Access, Without_Result'Access, Prepare_Connect'Access, Work => "sql.do.1");
      Kit.Register_Frame
        ("select.1", Sql.Nothing'Access, Query'Access, Prepare_Select'Access, Work => "sql.select.1");
      Register_Rows ("1", Prepare_1'Access);
      Register_Rows ("10", Prepare_10'Access);
      Register_Rows ("50", Prepare_50'Access);
      Register_Rows ("100", Prepare_100'Access);
      Register_Rows ("200", Prepare_200'Access);
      Register_Rows ("500", Prepare_500'Access);
      Register_Rows ("1000", Prepare_1000'Access);
      Register_Prepared ("1", Prepare_Prepared_1'Access);
      Register_Prepared ("10", Prepare_Prepared_10'Access);
      Register_Prepared ("100", Prepare_Prepared_100'Access);
      Register_Prepared ("1000", Prepare_Prepared_1000'Access);
   end Register;

end Sql_Reading;
