def combine(
    one_result, first_argument, two_result, second_argument, three_result, third_argument,
    fourth_argument, long_loop_variable,
):
    one_result += first_argument
    two_result += second_argument
    three_result += third_argument
    one_result += fourth_argument
    two_result += long_loop_variable
    if one_result:
        three_result += 1
    a_last_result = one_result
    a_last_result += 1
    print(a_last_result)
    return one_result, two_result, three_result


def f(first_argument, second_argument, third_argument, fourth_argument):
    one_result = two_result = three_result = 0
    for long_loop_variable in range(3):
        print(long_loop_variable)
        # everything
        one_result, two_result, three_result = combine(
            one_result, first_argument, two_result, second_argument, three_result, third_argument,
            fourth_argument, long_loop_variable,
        )
    return one_result, two_result, three_result


print(f(1, 2, 3, 4))
