--  The tests that every kit has of itself: the same work twice, work that is 5 % dearer, and a hand-off between threads

private package Kit.Self_Tests is

   procedure Register;

end Kit.Self_Tests;
