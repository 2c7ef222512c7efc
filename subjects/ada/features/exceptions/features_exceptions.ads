--  Exceptions: what a handler costs that is not needed, and what it costs to raise, propagate and handle.
--
--  block      raised and handled in one block of the frame's loop
--  procedure  raised in a procedure that is compiled apart, handled by the block that called it
--  levels_N   propagated through N procedures without handlers (the one that raises is the first of them)
--
--  The control frame calls the same procedures with a cause that raises nothing, and does what the handler does.

package Features_Exceptions is

   procedure Register;

end Features_Exceptions;
