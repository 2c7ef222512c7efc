--  The general scheme with consecutive calls of the run-time system merged into one. Next is all that the server calls
--  between two accept bodies: the Accept_End of one rendezvous, the Acceptor of a selector, and the Accept_Begin of the
--  next. Call is the selector's and the rendezvous' in one. A rendezvous without an accept body has no Accept_End: it
--  ends when it is accepted

generic
   type In_Parameters is private;
   type Out_Parameters is private;
   type Alternative is (<>);
   type Alternatives is array (Alternative) of Boolean;
   Without_Body : Alternatives;
package Merged_Rendezvous is

   protected Calls is

      entry Call (Alternative) (X : in In_Parameters; Y : out Out_Parameters);

      entry Next
        (Y : in Out_Parameters; Open : in Alternatives; Chosen : out Alternative; X : out In_Parameters);
      --  Y is the result of the rendezvous that goes on, if one does

   private
      entry Queue (X : in In_Parameters; Y : out Out_Parameters);

      entry Await_Call
        (Y : in Out_Parameters; Open : in Alternatives; Chosen : out Alternative; X : out In_Parameters);

      Now_Open  : Alternatives := (others => False);
      Selected  : Alternative;
      In_Values : In_Parameters;
      Results   : Out_Parameters;
      Called    : Boolean := False;
      Goes_On   : Boolean := False;   --  a rendezvous that the next Next ends
      Ended     : Natural := 0;       --  those whose callers may return
   end Calls;

end Merged_Rendezvous;
