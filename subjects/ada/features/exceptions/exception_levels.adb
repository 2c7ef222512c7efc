package body Exception_Levels is

   procedure Note_Return is
   begin
      Returns := (Returns + 1) mod 2**20;
   end Note_Return;

   procedure Level_2 with No_Inline;

   procedure Level_2 is
   begin
      First.all;
      Note_Return;
   end Level_2;

   generic
      with procedure Next;
   procedure Level;

   procedure Level is
   begin
      Next;
      Note_Return;
   end Level;

   --  Procedures of their own, which the compiler may not merge into one another

   procedure Level_3 is new Level (Level_2);
   pragma No_Inline (Level_3);
   procedure Level_4 is new Level (Level_3);
   pragma No_Inline (Level_4);
   procedure Level_5 is new Level (Level_4);
   pragma No_Inline (Level_5);
   procedure Level_6 is new Level (Level_5);
   pragma No_Inline (Level_6);
   procedure Level_7 is new Level (Level_6);
   pragma No_Inline (Level_7);
   procedure Level_8 is new Level (Level_7);
   pragma No_Inline (Level_8);
   procedure Level_9 is new Level (Level_8);
   pragma No_Inline (Level_9);
   procedure Level_10 is new Level (Level_9);
   pragma No_Inline (Level_10);
   procedure Level_11 is new Level (Level_10);
   pragma No_Inline (Level_11);
   procedure Level_12 is new Level (Level_11);
   pragma No_Inline (Level_12);
   procedure Level_13 is new Level (Level_12);
   pragma No_Inline (Level_13);
   procedure Level_14 is new Level (Level_13);
   pragma No_Inline (Level_14);
   procedure Level_15 is new Level (Level_14);
   pragma No_Inline (Level_15);
   procedure Level_16 is new Level (Level_15);
   pragma No_Inline (Level_16);

   procedure Call_4 renames Level_4;
   procedure Call_16 renames Level_16;

end Exception_Levels;
