with Ada.Containers;
with Ada.Strings.Hash;
with Ada.Unchecked_Deallocation;

package body Symbols is

   use type Ada.Containers.Hash_Type;

   procedure Free is new Ada.Unchecked_Deallocation (Node, Symbol);
   procedure Free is new Ada.Unchecked_Deallocation (Chains, Chains_Access);

   procedure Reset (Held : in out Chains);
   --  Gives all names back. It looks at every place, whether it holds a name or not.

   function Count (Of_Table : Table) return Natural is (Of_Table.Names);

   overriding procedure Finalize (Object : in out Table) is
   begin
      if Object.Held /= null then
         Reset (Object.Held.all);
         Free (Object.Held);
      end if;
   end Finalize;

   overriding procedure Initialize (Object : in out Table) is
   begin
      Object.Held := new Chains;
   end Initialize;

   procedure Intern (Into : in out Table; Name : String; Found : out Symbol) is
      At_Place : constant Place := Place (Ada.Strings.Hash (Name) mod Table_Size.Places);
   begin
      Found := Into.Held (At_Place);
      while Found /= null and then Found.Name /= Name loop
         Found := Found.Next;
      end loop;
      if Found = null then
         Found := new Node'(Length => Name'Length, Next => Into.Held (At_Place), Name => Name);
         Into.Held (At_Place) := Found;
         Into.Names := Into.Names + 1;
      end if;
   end Intern;

   procedure Reset (Held : in out Chains) is
      First, Rest : Symbol;
   begin
      for Chain of Held loop
         First := Chain;
         while First /= null loop
            Rest := First.Next;
            Free (First);
            First := Rest;
         end loop;
         Chain := null;
      end loop;
   end Reset;

end Symbols;
