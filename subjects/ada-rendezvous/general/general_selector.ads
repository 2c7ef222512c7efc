--  A selective accept by the general scheme: calls go through a selector, which lets one in, tells the acceptor which,
--  and passes it on to the rendezvous of its entry. The study's selector has no guards; here those of the present
--  select are the barriers of a family

with General_Rendezvous;

generic
   with package Scheme is new General_Rendezvous (<>);
   type Alternative is (<>);
   type Guards is array (Alternative) of Boolean;
package General_Selector is

   Entries : array (Alternative) of Scheme.Rendezvous;

   protected Selector is

      entry Call (Alternative) (X : in Scheme.In_Parameters; Y : out Scheme.Out_Parameters);

      entry Acceptor (Open : in Guards; Chosen : out Alternative);
      --  Returns when one of the open alternatives has been called: Accept_Begin of its rendezvous comes next

   private
      entry Await_Call (Open : in Guards; Chosen : out Alternative);

      Now_Open : Guards := (others => False);
      Selected : Alternative;
      Called   : Boolean := False;
   end Selector;

end General_Selector;
