/* Lists of 1, 10 and 100 things, made by the preprocessor. EACH_10(M, COMMA) is `M(100), M(101), … M(109)`: the numbers
 * begin at 100 so that all have three digits; INDEX_OF takes that off again. */
#ifndef LISTS_H
#define LISTS_H

#define COMMA() ,
#define SEMICOLON() ;

#define INDEX_OF(number) ((number) - 100)

#define TEN(M, S, t)                                                                                                   \
    M(t##0) S() M(t##1) S() M(t##2) S() M(t##3) S() M(t##4) S() M(t##5) S() M(t##6) S() M(t##7) S() M(t##8) S() M(t##9)

#define EACH_1(M, S) M(100)
#define EACH_10(M, S) TEN(M, S, 10)
#define EACH_100(M, S)                                                                                                 \
    TEN(M, S, 10) S() TEN(M, S, 11) S() TEN(M, S, 12) S() TEN(M, S, 13) S() TEN(M, S, 14) S()                          \
    TEN(M, S, 15) S() TEN(M, S, 16) S() TEN(M, S, 17) S() TEN(M, S, 18) S() TEN(M, S, 19)

#endif
