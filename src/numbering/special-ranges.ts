// Written by scripts/generate-special-ranges.mjs from the metadata of libphonenumber; not to be edited.

/**
 * Calling code, why numbers there are never called, and the first digits of such national numbers: ranges in which the
 * numbering plan has no ordinary number. One line a calling code and reason.
 */
export const specialRanges = `
1 premium_rate 24697 34597 900
1 personal_number 500 521 522 523 524 525 526 527 528 529 532 533 544 566 577 588 622 633
1 pager 26840
1 corporate_number 2422 24629 24646 24671 24672 3100 3101
20 premium_rate 90
212 premium_rate 89
213 premium_rate 803 804 805 806 808 809
213 shared_cost 801 802
216 premium_rate 88
216 shared_cost 811 82
221 premium_rate 88
221 shared_cost 81
227 premium_rate 09
230 premium_rate 30
230 pager 219
231 premium_rate 332
234 corporate_number 700
236 premium_rate 8
240 premium_rate 9
242 premium_rate 8
247 corporate_number 0 1 5 8 9
248 premium_rate 85
250 premium_rate 9
254 premium_rate 9
255 premium_rate 9
255 shared_cost 84 86
256 premium_rate 9
262 premium_rate 89
262 shared_cost 81 82 88 89
264 premium_rate 87
267 premium_rate 9
268 premium_rate 9
269 premium_rate 8
27 premium_rate 86 9
27 shared_cost 86
27 corporate_number 86
297 premium_rate 90
298 premium_rate 90
30 premium_rate 90
30 shared_cost 801 806 81 82 85 87
30 personal_number 7
30 corporate_number 5
31 premium_rate 90
31 pager 66
31 corporate_number 14 84 87 88
32 premium_rate 70 90
32 shared_cost 78
32 corporate_number 78
33 premium_rate 81 82 83 85 86 88 89
33 shared_cost 81 82 84 88
33 corporate_number 806 807 808 809
34 premium_rate 803 806 807
34 shared_cost 901 902
34 personal_number 70
34 corporate_number 5
351 premium_rate 601 607 608 64 7
351 shared_cost 808 809
351 personal_number 88
351 pager 62 68
351 corporate_number 7
351 voicemail_access 600 60920 60924 66920 66924
352 premium_rate 900 901 905
352 shared_cost 801
353 personal_number 70
353 corporate_number 81
354 premium_rate 9
354 corporate_number 809
354 voicemail_access 689 871 878 880 9
355 premium_rate 9
355 shared_cost 808
355 personal_number 7
356 premium_rate 5
356 pager 71
356 corporate_number 5
357 premium_rate 90
357 shared_cost 801 802 803 804 805 806 807 808 809
357 personal_number 7
357 corporate_number 5 7
358 premium_rate 60 7
358 corporate_number 10 20 29 30 39 60 7
359 premium_rate 90
359 shared_cost 700
36 premium_rate 90 91
36 corporate_number 38
370 premium_rate 900 902 903 909 91
370 shared_cost 808
370 personal_number 7
370 corporate_number 7
371 premium_rate 9
371 shared_cost 81
372 premium_rate 40 9
372 personal_number 70
373 premium_rate 9
373 shared_cost 808
373 corporate_number 803
374 premium_rate 90
374 shared_cost 801 802 803 804
375 premium_rate 81 9
376 premium_rate 10 11 12 13 14 15 16 17 1801 1803 1804 1805 1806 1807 1808 1809 181 182 183 184 185 186 187 188 189 19 9
378 premium_rate 7
380 premium_rate 90
381 premium_rate 7 9
381 corporate_number 7
382 premium_rate 9
382 corporate_number 77
383 premium_rate 9
385 premium_rate 6
385 personal_number 7
385 corporate_number 6 7
386 premium_rate 89 9
387 premium_rate 9
387 shared_cost 81 82
387 corporate_number 7
389 premium_rate 5
389 shared_cost 801 802 803 804 805 806 807 808 809 81 82 83 84 85 86 87 88 89
39 premium_rate 0878 1 89
39 shared_cost 84
39 personal_number 1
40 premium_rate 9
40 shared_cost 801
40 corporate_number 37 805 807 808
41 premium_rate 90
41 shared_cost 84
41 personal_number 87
41 pager 74
41 corporate_number 51 58
41 voicemail_access 86
420 premium_rate 90 976
420 shared_cost 81 83 84
420 personal_number 700 701
420 corporate_number 95 972 973 974
420 voicemail_access 93 96
421 premium_rate 900 97 98
421 shared_cost 85 86 87 88 89
421 pager 9090
421 corporate_number 96
423 premium_rate 9
423 corporate_number 87
423 voicemail_access 69
43 premium_rate 86 89 9
43 shared_cost 81 82
44 premium_rate 84 87 9
44 personal_number 70
44 pager 760 7623 7625 7626 763 764 765 766 767 768 769
44 corporate_number 3 55
45 premium_rate 90
46 premium_rate 649 900 939 944 99
46 shared_cost 77
46 personal_number 75
46 pager 74
46 corporate_number 10
46 voicemail_access 252 254 255 673 674 675 676 678
47 premium_rate 82
47 shared_cost 81
47 personal_number 88
47 corporate_number 0 81
47 voicemail_access 81
48 premium_rate 70
48 shared_cost 801
48 pager 64
48 corporate_number 804
49 premium_rate 13 900
49 shared_cost 13 18
49 personal_number 700
49 pager 164 168 169
49 corporate_number 18
49 voicemail_access 1530 1540
502 premium_rate 19
503 premium_rate 9
506 premium_rate 9
507 premium_rate 822 855 86 877 878 886 900 981
51 premium_rate 805
51 shared_cost 801
51 personal_number 802 804
52 premium_rate 90
52 shared_cost 30
52 personal_number 50
53 shared_cost 807
54 premium_rate 60
54 corporate_number 81
55 premium_rate 50 90
55 shared_cost 30 40 486
57 premium_rate 19 90
58 premium_rate 9
58 corporate_number 501
590 premium_rate 81 82 89
592 premium_rate 9
594 premium_rate 81 82 89
595 corporate_number 20 30 40 50 60 70 80 90
596 premium_rate 81 82 89
597 premium_rate 90
598 premium_rate 90
599 shared_cost 6
599 pager 955
61 premium_rate 19
61 shared_cost 13
61 pager 16
62 premium_rate 809
62 shared_cost 804
62 corporate_number 15 807
64 premium_rate 1 500 503 506 507 90
64 personal_number 70
64 corporate_number 81 82 83 84 85 86 87 89
65 premium_rate 19
65 corporate_number 7
670 premium_rate 9
670 personal_number 70
675 pager 270 271
678 corporate_number 30 33 900
681 voicemail_access 4 806 807 808 809
687 premium_rate 36
689 corporate_number 44
7 premium_rate 803 809
7 personal_number 808
81 premium_rate 990
81 personal_number 600
81 pager 20
81 corporate_number 570
82 premium_rate 60
82 personal_number 50
82 pager 15
82 corporate_number 15
84 premium_rate 19
84 corporate_number 19 69
852 premium_rate 900
852 personal_number 81 82 83
852 pager 7100 7108 711 713 716 719 72 73 74 75 76 77 78 79
852 corporate_number 30
86 premium_rate 160 168
86 shared_cost 40 950
886 premium_rate 20
886 personal_number 99
886 corporate_number 50
90 premium_rate 88 89 9
90 personal_number 592
90 pager 512
90 corporate_number 444
91 premium_rate 1861
91 shared_cost 1860
91 corporate_number 140
92 premium_rate 90
92 personal_number 1
92 corporate_number 211 221 2321 2331 2351 2381 2421 2431 2441 251 2921 2931 2941 2951 2961 2971 2981 401 411 421 441 4531 4541 4571 4591 461 471 481 491 511 521 531 5421 5431 5441 5461 5471 551 561 571 6041 6061 6081 611 621 631 641 651 661 671 681 711 7221 7231 7261 741 811 8221 8231 8241 8251 8261 8281 8291 8321 8331 8351 8371 8381 8431 8441 8471 8481 8521 8531 8551 8561 861 911 9221 9321 9371 9381 9391 9421 9431 9441 9451 9461 9631 9651 9661 9691 9921 993 994 9951 9961 9971
94 corporate_number 19
960 corporate_number 40 45
962 premium_rate 9
962 shared_cost 85
962 personal_number 70
962 pager 74
962 corporate_number 81 88
966 premium_rate 9
966 shared_cost 9
968 premium_rate 900
970 shared_cost 17
971 premium_rate 90
971 shared_cost 70
971 corporate_number 60
972 premium_rate 120 121 19
972 shared_cost 17
972 corporate_number 159
972 voicemail_access 151
973 premium_rate 87 9
973 shared_cost 84
974 pager 2
98 corporate_number 96
994 premium_rate 90
`
