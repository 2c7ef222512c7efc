--  The partner of the hand-off and its one operation, compiled apart from the frames

with Kit;

package Features_Handoff_Objects is

   procedure Prepare (Arg : Kit.Argument);

   procedure Finish (Arg : Kit.Argument);

   procedure Hand_Over;

   procedure Hand_Over_Nothing;

end Features_Handoff_Objects;
