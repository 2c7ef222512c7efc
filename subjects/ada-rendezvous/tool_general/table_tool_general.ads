--  The table at which philosophers dine, kept by a task: forks are taken in pairs or not at all

with Ada.Exceptions;
with Places; use Places;

package Table_Tool_General is

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

   protected type Table_Lay_Rendezvous is
      entry Call (Number : in Place);
      entry Accept_Begin (Number : out Place);
      procedure Accept_End;
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_Number : Place;
   end Table_Lay_Rendezvous;

   protected type Table_Take_Rendezvous is
      entry Call (Who : in Place);
      entry Accept_Begin (Who : out Place);
      procedure Accept_End;
      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence);
      procedure Accept_Requeue (Way_On : in Table_Way);
   private
      entry Queue (Who : in Place);
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_Who : Place;
      Way : Table_Way := To_Caller;
      Has_Failed : Boolean := False;
      Failure : Ada.Exceptions.Exception_Occurrence;
   end Table_Take_Rendezvous;

   protected type Table_Put_Back_Rendezvous is
      entry Call (Who : in Place);
      entry Accept_Begin (Who : out Place);
      procedure Accept_End;
      procedure Accept_Failed (Occurrence : Ada.Exceptions.Exception_Occurrence);
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
      Kept_Who : Place;
      Has_Failed : Boolean := False;
      Failure : Ada.Exceptions.Exception_Occurrence;
   end Table_Put_Back_Rendezvous;

   protected type Table_Await_Rendezvous is
      entry Call;
      entry Accept_Begin;
      procedure Accept_End;
   private
      entry Queue;
      Called : Boolean := False;
      Ended : Boolean := False;
   end Table_Await_Rendezvous;

   Table_Lay : Table_Lay_Rendezvous;
   Table_Take : Table_Take_Rendezvous;
   Table_Put_Back : Table_Put_Back_Rendezvous;
   Table_Await : Table_Await_Rendezvous;

   protected Table is
      entry Lay (Number : in Place);
      entry Take (Who : in Place);
      entry Put_Back (Who : in Place);
      entry Await (Place);
      function Await_Count (Member : Place) return Natural;
      function Await_Way_On return Place;

      --  For Table_Server alone:
      procedure Set_Await_Member (Member : in Place);
      procedure Set_Await_Way (Member : in Place);
      entry Accept_Next (Open : in Table_Open; Chosen : out Table_Call);
      procedure Close;
   private
      entry Waiting (Open : in Table_Open; Chosen : out Table_Call);
      Is_Open      : Table_Open := (others => False);
      Called       : Table_Call := No_Call;
      Await_Way    : Place;
      Await_Member : Place;
      Closed       : Boolean := False;
   end Table;

   task Table_Server;

end Table_Tool_General;
