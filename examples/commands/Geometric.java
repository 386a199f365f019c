import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The geometric mechanism, as a program that dpaudit can ask: javac Geometric.java; java -cp . Geometric 1.0 */
public class Geometric {
    private static final Pattern REQUEST =
            Pattern.compile("\\{\"input\": (-?\\d+), \"size\": (\\d+), \"seed\": (\\d+)}");

    static long geometric(SplittableRandom random, double epsilon) {
        return (long) Math.floor(-Math.log(1.0 - random.nextDouble()) / epsilon);
    }

    public static void main(String[] words) throws IOException {
        double epsilon = Double.parseDouble(words[0]);
        var in = new BufferedReader(new InputStreamReader(System.in));
        var out = new BufferedWriter(new OutputStreamWriter(System.out), 1 << 16);
        out.write("{\"protocol\": \"dpaudit.sampler/1\", \"format\": \"csv\", \"dtype\": \"int64\"}\n");
        out.flush();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Matcher asked = REQUEST.matcher(line);
            if (!asked.matches()) {
                throw new IllegalArgumentException("no request about an integer: " + line);
            }
            long input = Long.parseLong(asked.group(1)), size = Long.parseLong(asked.group(2));
            var random = new SplittableRandom(Long.parseLong(asked.group(3)));
            for (long i = 0; i < size; i++) {
                out.write(Long.toString(input + geometric(random, epsilon) - geometric(random, epsilon)));
                out.write('\n');
            }
            out.flush();
        }
    }
}
