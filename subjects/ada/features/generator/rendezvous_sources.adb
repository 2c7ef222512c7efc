with Parameter_Modes; use Parameter_Modes;
with Source_Files;    use Source_Files;

package body Rendezvous_Sources is

   Counts : constant array (1 .. 3) of Positive := (1, 10, 100);

   function Unit (Mode : Passing) return String
   is ("Features_Rendezvous_" & Mode_Name (Mode));

   --  Parts -------------------------------------------------------------------------------------------------------

   procedure Put_Profile (Indent : Natural; Start : String; Mode : Passing; Count : Positive; Ending : String) is
   begin
      Put_List (Indent, Start & " (", "P", "", " : " & Mode_Text (Mode) & " Integer)" & Ending, Count);
   end Put_Profile;

   procedure Put_Acceptor (Mode : Passing; Count : Positive) is
      --  The task type, and the life of its one object

      Suffix : constant String := '_' & Numeral (Count);
   begin
      Put (1, "task type Acceptor" & Suffix & " is");
      Put_Profile (2, "entry Call", Mode, Count, ";");
      Put (1, "end Acceptor" & Suffix & ';');
      Blank;
      Put (1, "type Access" & Suffix & " is access Acceptor" & Suffix & ';');
      Put (1, "function Identity (Instance : Access" & Suffix & ") return Task_Id is (Instance.all'Identity);");
      Put
        (1,
         "package Life" & Suffix & " is new Features_Partner"
         & " (Acceptor" & Suffix & ", Access" & Suffix & ", Identity);");
      Blank;
      Put (1, "procedure Call" & Suffix & ';');
      Blank;
   end Put_Acceptor;

   procedure Put_Uses (Mode : Passing; Count : Positive) is
      --  A parameter is passed to be used, and each is used once: added up, assigned, or incremented
   begin
      case Mode is
         when By_In =>
            for I in 1 .. Count loop
               Put
                 (4, (if I = 1 then "Served (" else "        + ") & 'P' & Numeral (I)
                  & (if I = Count then ");" else ""));
            end loop;
         when By_Out =>
            for I in 1 .. Count loop
               Put (4, 'P' & Numeral (I) & " := " & Numeral (I) & ';');
            end loop;
         when By_In_Out =>
            for I in 1 .. Count loop
               Put (4, 'P' & Numeral (I) & " := P" & Numeral (I) & " + 1;");
            end loop;
      end case;
      if Mode /= By_In then
         Put (4, "Served (1);");
      end if;
   end Put_Uses;

   procedure Put_Acceptor_Body (Mode : Passing; Count : Positive) is
      Suffix : constant String := '_' & Numeral (Count);
   begin
      Put (1, "task body Acceptor" & Suffix & " is");
      Put (1, "begin");
      Put (2, "Kit.Thread_Begins;");
      Put (2, "loop");
      Put_Profile (3, "accept Call", Mode, Count, " do");
      Put_Uses (Mode, Count);
      Put (3, "end Call;");
      Put (2, "end loop;");
      Put (1, "end Acceptor" & Suffix & ';');
      Blank;
   end Put_Acceptor_Body;

   procedure Put_Call (Count : Positive) is
      Suffix : constant String := '_' & Numeral (Count);
   begin
      Put (1, "procedure Call" & Suffix & " is");
      Put (1, "begin");
      Put_List (2, "Life" & Suffix & ".Instance.Call (", "V (", ")", ");", Count);
      Put (1, "end Call" & Suffix & ';');
      Blank;
   end Put_Call;

   procedure Put_Served is
      --  Runs inside the accept bodies, while the caller waits
   begin
      Put (1, "procedure Served (Amount : Integer) with Inline;");
      Blank;
      Put (1, "procedure Served (Amount : Integer) is");
      Put (1, "begin");
      Put (2, "if Kit.Reporting then");
      Put (3, "Kit.Thread_Reports;");
      Put (2, "end if;");
      Put (2, "Done := Done + Checksum (Amount);");
      Put (1, "end Served;");
      Blank;
   end Put_Served;

   --  Packages ----------------------------------------------------------------------------------------------------

   procedure Write_Spec (Mode : Passing) is
   begin
      Open_Package
        (Unit (Mode), Is_Body => False,
         Purpose => "Rendezvous with 1, 10 and 100 INTEGER parameters of mode " & Mode_Text (Mode),
         Context =>
           "with Ada.Task_Identification; use Ada.Task_Identification;" & ASCII.LF
           & "with Features_Partner;");
      for Count of Counts loop
         Put_Acceptor (Mode, Count);
      end loop;
      Close_Package (Unit (Mode));
   end Write_Spec;

   procedure Write_Body (Mode : Passing) is
   begin
      Open_Package
        (Unit (Mode), Is_Body => True, Purpose => "Acceptors that use each parameter once, and a call of each",
         Context =>
           "with Features_Rendezvous_Operands; use Features_Rendezvous_Operands;" & ASCII.LF
           & "with Features_Tally; use Features_Tally;" & ASCII.LF
           & "with Kit; use Kit;");
      Put_Served;
      for Count of Counts loop
         Put_Acceptor_Body (Mode, Count);
         Put_Call (Count);
      end loop;
      Close_Package (Unit (Mode));
   end Write_Body;

   procedure Write is
   begin
      for Mode in Passing loop
         Write_Spec (Mode);
         Write_Body (Mode);
      end loop;
   end Write;

end Rendezvous_Sources;
