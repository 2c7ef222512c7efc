--  Subprogram calls: what a call costs over the same statements written in its place.
--
--  The control frame of a test holds the callee's statements in line; the test frame calls the callee. Nothing else
--  differs, so the figure is the call itself: passing, jump, return, copying back. A callee keeps every parameter of
--  mode `in`, gives every `out` parameter the value that was kept, and exchanges the two for `in out`. Of a composite
--  parameter it touches one component alone, so that the slope of cost against size tells copy from reference.
--
--  The forms:
--
--  inter          the callee is in another package, compiled apart
--  intra          the callee is in the frame's own package. Inlining and other analysis of it are forbidden (No_Inline,
--                 noipa): left alone the compiler inlines it, and the figure would be that of inline
--  inline         as intra, with pragma Inline: the compiler decides
--  generic_inter  the callee is in an instance of a generic package, instantiated at library level
--  generic_intra  callee and frame are in one generic package, instantiated at library level
--
--  Callees and frames are many and alike; generator/ writes them as plain Ada when the subject is built.

package Features_Calls is

   procedure Register;

end Features_Calls;
