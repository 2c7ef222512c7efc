--  Names of a document, each kept once: a hash table with chains.

private with Ada.Finalization;
private with Table_Size;

package Symbols is

   type Symbol is private;
   --  Two symbols of a table are equal if their names are.

   type Table is limited private;
   --  Empty at first. Its memory is given back when it goes out of scope.

   procedure Intern (Into : in out Table; Name : String; Found : out Symbol);
   --  The symbol of a name, made if it is new.

   function Count (Of_Table : Table) return Natural;
   --  How many names there are.

private

   type Node;
   type Symbol is access Node;

   type Node (Length : Natural) is record
      Next : Symbol;
      Name : String (1 .. Length);
   end record;

   subtype Place is Natural range 0 .. Table_Size.Places - 1;
   type Chains is array (Place) of Symbol;
   type Chains_Access is access Chains;

   type Table is new Ada.Finalization.Limited_Controlled with record
      Held  : Chains_Access;
      Names : Natural := 0;
   end record;

   overriding procedure Initialize (Object : in out Table);
   overriding procedure Finalize (Object : in out Table);

end Symbols;
