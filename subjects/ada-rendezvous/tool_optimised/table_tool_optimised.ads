--  The table at which philosophers dine, kept by a task: forks are taken in pairs or not at all

with Ada.Exceptions;
with Places; use Places;

package Table_Tool_Optimised is

   --  Was task Table. Its clients call the protected object Table, and
   --  Table_Server accepts their calls (antiphon translate)
   type Table_Call is
     (No_Call,
      Lay_Call,
      Take_Call,
      Put_Back_Call,
      Await_Call);
   type Table_Open is array (Table_Call) of Boolean;
   type Table_Way is (To_Caller, To_Await);
   type Table_Data is record
      Lay_Number : Place;
      Take_Who : Place;
      Put_Back_Who : Place;
   end record;

   protected Table is
      entry Lay (Number : in Place);
      entry Take (Who : in Place);
      entry Put_Back (Who : in Place);
      entry Await (Place);
      function Await_Count (Member : Place) return Natural;

      --  For Table_Server alone:
      procedure Set_Await_Member (Member : in Place);
      procedure Set_Await_Way (Member : in Place);
      entry Accept_Next
        (Open   : in     Table_Open;
         Chosen : in out Table_Call;
         Data   : in out Table_Data);
      procedure Accept_Failed
        (Chosen     : in out Table_Call;
         Occurrence : in     Ada.Exceptions.Exception_Occurrence);
      procedure Accept_Requeue
        (Chosen : in out Table_Call;
         Way_On : in     Table_Way;
         Data   : in     Table_Data);
      procedure Close (Chosen : in out Table_Call; Data : in Table_Data);
   private
      entry Lay_End;
      entry Take_End (Who : in Place);
      entry Put_Back_End;
      entry Waiting
        (Open   : in     Table_Open;
         Chosen : in out Table_Call;
         Data   : in out Table_Data);
      Is_Open      : Table_Open := (others => False);
      Called       : Table_Call := No_Call;
      Ended        : Table_Call := No_Call;
      Await_Way    : Place;
      Await_Member : Place;
      Kept         : Table_Data;
      Way          : Table_Way := To_Caller;
      Has_Failed   : Boolean := False;
      Failure      : Ada.Exceptions.Exception_Occurrence;
      Closed       : Boolean := False;
   end Table;

   task Table_Server;

end Table_Tool_Optimised;
